// What py-spy would write for speedscope of stacks that are given as folded lines:
//
//   process 7:"a";thread (7): MainThread;train (/job/train.py:103);write (/job/a b.py:85) 224
//
// Used by the tests of captures. Each line is so many samples on end; threads are told apart by
// what stands before their first frame. Requires: sound lines.
#ifndef FATHOM_TESTS_DAEMON_AGENT_CAPTURE_SPEEDSCOPE_FAKE_H_
#define FATHOM_TESTS_DAEMON_AGENT_CAPTURE_SPEEDSCOPE_FAKE_H_

#include <string>

namespace fathom::agent {

std::string Speedscope(const std::string& folded);

}  // namespace fathom::agent

#endif  // FATHOM_TESTS_DAEMON_AGENT_CAPTURE_SPEEDSCOPE_FAKE_H_
