#include "parallel/Coordinated.hpp"

#include "base/FaultInjection.hpp"
#include "base/Text.hpp"
#include "parallel/MpiSession.hpp"

namespace stereosweep::parallel {

Failure catch_failure(const std::function<void()>& step) {
  try {
    base::inject_fault("step");
    step();
    return {};
  } catch (const base::Error& error) {
    return {error.what(), error.exit_code()};
  } catch (const std::exception& error) {
    return {error.what(), base::ExitCode::error};
  }
}

void raise_everywhere(const Communicator& group, const Failure& own) {
  const auto text = own.message.empty()
                        ? ""
                        : std::to_string(static_cast<int>(own.exit_code)) + "\n" + host_name() + "\n" + own.message;
  const auto all = group.gather_everywhere(text);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) {
      continue;
    }
    const auto code_end = all[rank].find('\n');
    const auto host_end = all[rank].find('\n', code_end + 1);
    const auto host = all[rank].substr(code_end + 1, host_end - code_end - 1);
    const auto message = all[rank].substr(host_end + 1);
    throw SharedError(
        group.size() == 1 || rank == 0 ? message : "rank " + std::to_string(rank) + " on " + host + ": " + message,
        static_cast<base::ExitCode>(std::stoi(all[rank])));
  }
}

}  // namespace stereosweep::parallel
