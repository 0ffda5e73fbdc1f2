"""The Python side of fathom's tracer: names of groups, garbage collection, data loading."""
