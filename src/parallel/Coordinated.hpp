// Errors that concern all ranks: where one throws, all throw, so that nobody waits for a rank that has gone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include "base/Error.hpp"
#include "parallel/Communicator.hpp"

namespace stereosweep::parallel {

/// An error that every rank of the group throws at the same place: all may end in good order. Any other error of one
/// rank leaves the rest waiting for it: then only abort_all_ranks helps.
class SharedError : public base::Error {
 public:
  using Error::Error;
};

/// What a rank's part of a collective step threw; empty `message`: nothing.
struct Failure {
  std::string message;
  base::ExitCode exit_code = base::ExitCode::error;
};

/// Runs `step`, catching what it throws.
Failure catch_failure(const std::function<void()>& step);

/// Collective: throws SharedError on every rank: the failure of the lowest rank that has one, with its
/// rank and host.
void raise_everywhere(const Communicator& group, const Failure& own);

/// Collective: runs `step` on every rank; if it throws anywhere, every rank throws the lowest rank's error.
/// The step itself must not communicate in ways that hang when one rank leaves it early.
template <class Step>
auto coordinated(const Communicator& group, Step&& step) {
  using Result = std::invoke_result_t<Step>;
  if constexpr (std::is_void_v<Result>) {
    raise_everywhere(group, catch_failure(step));
  } else {
    std::optional<Result> result;
    raise_everywhere(group, catch_failure([&] { result.emplace(step()); }));
    return std::move(*result);
  }
}

}  // namespace stereosweep::parallel
