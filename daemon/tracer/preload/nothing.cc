// What a 32-bit process gets in the tracer's place: nothing. Without it the loader would print a
// warning to the process's stderr.
