"""What ranks do between steps without being sick: rank 0 writes its log or a checkpoint, all evaluate, or all
get memory in the first step, each for as long as it takes."""

HABITS = ("none", "none", "logs", "saves", "evaluates", "starts")


class Habits:
    def __init__(self, name, random, first, steps):
        self.name, self.first = name, first
        self.at = first + random.randrange(1, max(2, steps - 1))  # the step with a checkpoint
        self.length = random.uniform(40_000, 150_000)

    def before(self, rank, step):
        if self.name == "starts" and step == self.first:
            rank.busy("aten::empty_strided", rank.random.uniform(2_000, 50_000), "cpu_op")

    def after(self, plan, rank, step):
        if self.name == "logs" and rank.number == 0:
            rank.busy("train.py(131): log_metrics", 400.0 * rank.noise(0.3), "python_function")
        if self.name == "saves" and rank.number == 0 and step == self.at:
            rank.busy("checkpoint.py(57): save_checkpoint", self.length, "python_function")
        if self.name == "evaluates" and step % 2 == 1:
            for _ in range(plan.layers):
                yield from plan.layer(rank, step, 1.0, plan.faults.work(rank.number))
            yield from rank.wait_for((yield from plan.communicate(
                rank, "allreduce", plan.groups[0], 1, step, 20)))
            yield from rank.synchronise()
