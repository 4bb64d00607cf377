#include "run/EarlyEnds.hpp"

#include <unistd.h>

#include "base/Log.hpp"
#include "parallel/MpiSession.hpp"
#include "run/Environment.hpp"
#include "run/Signals.hpp"
#include "run/Timing.hpp"

namespace stereosweep::run {

parallel::HeartbeatLimits heartbeat_limits() {
  const Seconds patience(seconds_from_environment("STEREOSWEEP_RANK_TIMEOUT_S", 120));
  return {2 * patience, 4 * patience};
}

StopOrder explain_signal(int signal, const std::string& rank, parallel::Heartbeat* heartbeat) {
  const auto name = signal_name(signal);
  const bool perhaps_a_death = name == "TERM" && heartbeat != nullptr;
  if (perhaps_a_death) {
    if (const auto end = heartbeat->find_early_end()) {
      return {end->exit_code, end->cause, end->lost};
    }
  }
  const bool may_be_unheard = perhaps_a_death && !heartbeat->hears_all();
  return {base::ExitCode::resume,
          "signal " + name + " on " + rank + (may_be_unheard ? " (launchers also send it when a rank has died)" : "")};
}

void leave_before_start(int signal) {
  if (const auto rank = text_from_environment("PMIX_RANK"); rank.empty() || rank == "0") {
    base::log(base::LogLevel::warning, "signal " + signal_name(signal) + " before MPI had started: " + how_to_go_on);
  }
  ::_exit(static_cast<int>(base::ExitCode::resume));
}

void leave_for_signal(int signal, int rank, parallel::Heartbeat* heartbeat,
                      const std::function<bool(const StopOrder&)>& begin_end) {
  StopOrder order{base::ExitCode::resume, "signal " + signal_name(signal)};
  if (rank == 0) {
    order = explain_signal(signal, "rank 0 on " + parallel::host_name(), heartbeat);
  }
  if (!begin_end(order)) {
    return;
  }
  if (rank == 0 && order.exit_code == base::ExitCode::resume) {
    base::log(base::LogLevel::warning, order.cause + ": " + how_to_go_on);
  }
  if (rank > 0 && heartbeat != nullptr) {
    heartbeat->say_last_words({order.exit_code, order.cause});
  }
  ::_exit(static_cast<int>(order.exit_code));
}

}  // namespace stereosweep::run
