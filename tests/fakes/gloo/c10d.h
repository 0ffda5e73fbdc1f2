// The few classes of PyTorch that the tracer interposes, declared so that their mangled names and
// calling conventions are the real ones; the bodies in c10d.cc are a stand-in without threads.
//
// Built into libfake_gloo.so, which the tests of daemon/tracer/preload load with local scope, as
// Python loads libtorch_cpu.so. Nothing here allocates, so that tests can count what the tracer
// does. Thread-safety: as the real ones: calls on one group are serialised by the caller.
#ifndef FATHOM_TESTS_FAKES_GLOO_C10D_H_
#define FATHOM_TESTS_FAKES_GLOO_C10D_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

namespace c10 {
namespace detail {
template <typename T>
struct intrusive_target_default_null_type {};
}  // namespace detail

template <typename T, typename Null = detail::intrusive_target_default_null_type<T>>
class intrusive_ptr {
 public:
  intrusive_ptr() = default;
  explicit intrusive_ptr(T* target) : target_(target) {}
  intrusive_ptr(intrusive_ptr&& other) noexcept : target_(other.target_) {
    other.target_ = nullptr;
  }
  ~intrusive_ptr() {
    if (target_ != nullptr) target_->Release();
  }
  T* get() const { return target_; }
  T* release() {
    T* given = target_;
    target_ = nullptr;
    return given;
  }

 private:
  T* target_ = nullptr;
};
}  // namespace c10

namespace at {
struct FakeTensorData {
  std::int64_t numel;
  std::int32_t dtype;
};
class Tensor {
 public:
  explicit Tensor(FakeTensorData* data) : data_(data) {}
  FakeTensorData* data() const { return data_; }

 private:
  FakeTensorData* data_;
};
}  // namespace at

namespace gloo {
class Context;
namespace transport {
class UnboundBuffer;
}
}  // namespace gloo

namespace c10d {

enum class OpType : std::uint8_t { BROADCAST = 0, ALLREDUCE = 1 };

struct AllreduceOptions {
  int unused = 0;
};
struct BroadcastOptions {
  std::int64_t rootRank = 0;
};
struct BarrierOptions {
  int unused = 0;
};

struct Store {
  void Release() {}
};

class Work {
 public:
  virtual ~Work();
  virtual bool wait(std::chrono::milliseconds timeout);
  virtual void Release() {}
};

class ProcessGroupGloo {
 public:
  struct Options {
    void Release() {}
  };

  class AsyncWork : public Work {
   public:
    AsyncWork(std::shared_ptr<gloo::Context> context, std::vector<std::vector<at::Tensor>> outputs,
              OpType op_type, std::uint64_t sequence, std::chrono::milliseconds timeout,
              const char* title, const std::optional<std::vector<at::Tensor>>& inputs);
    static void execute(const c10::intrusive_ptr<AsyncWork>& work);
    void Release() override;
    bool throws = false;  // when it is executed

   private:
    void finishWorkGloo();
    void finishWorkGlooError(const std::exception_ptr& error);
  };

  ProcessGroupGloo(const c10::intrusive_ptr<Store>& store, int rank, int size,
                   c10::intrusive_ptr<Options> options);
  virtual ~ProcessGroupGloo();
  virtual c10::intrusive_ptr<Work> allreduce(std::vector<at::Tensor>& tensors,
                                             const AllreduceOptions& options);
  virtual c10::intrusive_ptr<Work> broadcast(std::vector<at::Tensor>& tensors,
                                             const BroadcastOptions& options);
  virtual void monitoredBarrier(const BarrierOptions& options, bool all);
  std::uint32_t nextTag();

  int fail_next = 0;       // the next op throws this
  int fork_next = 0;       // the next op forks inside the call; the child's pid is left here
  bool stop_next = false;  // the next op never returns

 private:
  void Misbehave();
  std::atomic<std::uint32_t> tag_{0};
};

class Reducer {
 public:
  void finalize_backward();
};

}  // namespace c10d

#endif  // FATHOM_TESTS_FAKES_GLOO_C10D_H_
