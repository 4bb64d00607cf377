#include "parallel/MpiSession.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "base/Log.hpp"
#include "base/process/Environment.hpp"
#include "base/process/FaultInjection.hpp"
#include "base/process/Processors.hpp"
#include "base/text/Text.hpp"
#include "parallel/MpiHandle.hpp"
#include "parallel/RankGuard.hpp"

namespace stereosweep::parallel {
namespace {

const char* shown = nullptr;  ///< by the handler of SIGALRM

/// STEREOSWEEP_START_TIMEOUT_S: for MPI's start and end.
std::chrono::duration<double> start_limit() {
  return std::chrono::duration<double>(base::seconds_from_environment("STEREOSWEEP_START_TIMEOUT_S", 600));
}

bool mpi_runs() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

/// Tasks of another MPI's launcher, or of srun without PMIx, do not know of each other: each would do the whole job.
/// What stands around an mpirun does not count.
void refuse_rivals(std::int64_t num_ranks) {
  if (!base::text_from_environment("OMPI_COMM_WORLD_SIZE").empty()) {
    return;
  }
  for (const std::string name : {"SLURM_STEP_NUM_TASKS", "PMI_SIZE", "PMIX_SIZE", "PALS_SIZE", "MPI_LOCALNRANKS"}) {
    const auto started = base::parse_integer(base::text_from_environment(name.c_str())).value_or(1);
    base::refuse_if(started > num_ranks,
                    "a launcher has started " + std::to_string(started) + " processes (" + name +
                        "), but this one knows of " + std::to_string(num_ranks),
                    "it speaks another MPI than this program, or is srun without PMIx",
                    "start them by this MPI's mpirun, or by srun --mpi=pmix; where each is to have a job of its own: "
                    "env -u " +
                        name + " stereosweep ...");
  }
}

}  // namespace

CallLimit::CallLimit(const char* text, std::chrono::duration<double> time) {
  shown = text;
  ::signal(SIGALRM, [](int) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, shown, std::strlen(shown));
    ::_exit(static_cast<int>(base::ExitCode::resume));
  });
  ::alarm(static_cast<unsigned>(std::ceil(time.count())));
}

CallLimit::~CallLimit() {
  ::alarm(0);
  ::signal(SIGALRM, SIG_DFL);
}

bool launched_as_rank() {
  const auto is_set = [](const char* name) { return !base::text_from_environment(name).empty(); };
  const auto servers = {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI21",
                        "PMIX_SERVER_URI2"};
  // mpirun; srun --mpi=pmix. SLURM_* and PMI_* alone also stand in the shell of an allocation, there with size 1.
  return is_set("OMPI_COMM_WORLD_SIZE") ||
         (is_set("PMIX_RANK") && is_set("PMIX_NAMESPACE") && std::ranges::any_of(servers, is_set));
}

MpiSession::MpiSession() {
  if (!mpi_runs()) {
    if (!launched_as_rank()) {
      refuse_rivals(1);
      return;
    }
    // Waiting sleeps here; Open MPI's yielding in every poll would give whole time slices away on top (README).
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
    int provided = 0;
    const CallLimit limit(
        "stereosweep: MPI has not started in time (STEREOSWEEP_START_TIMEOUT_S): a rank hangs, was stopped, or its "
        "node is gone. Run the same command again.\n",
        start_limit());
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    started_ = true;
    base::fail_if(provided < MPI_THREAD_FUNNELED, "MPI gives no MPI_THREAD_FUNNELED",
                  "a second thread of each rank scores");
  }
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  world_ = Communicator(std::make_shared<Communicator::Handle>(MPI_COMM_WORLD));
  refuse_rivals(world_.size());
}

MpiSession::~MpiSession() {
  world_ = Communicator();
  if (started_) {
    end_mpi();
  }
}

void end_mpi() {
  if (mpi_runs()) {
    base::inject_fault("finalize");
    const CallLimit limit(
        "stereosweep: MPI has not ended in time (STEREOSWEEP_START_TIMEOUT_S): a rank hangs, was stopped, or its node "
        "is gone. Nothing is lost; run the same command again.\n",
        start_limit());
    MPI_Finalize();
    RankGuard::mpi_has_ended();
  }
}

void abort_all_ranks(int status) {
  ::alarm(10);  // SIGALRM's default action ends the process
  if (mpi_runs()) {
    MPI_Abort(MPI_COMM_WORLD, status == 0 ? 1 : status);
  }
  ::_exit(status == 0 ? 1 : status);
}

base::ExitCode end_on_all_ranks(const Communicator& world, const std::function<base::ExitCode()>& step) {
  try {
    return step();
  } catch (const SharedError& error) {
    if (world.rank() == 0) {
      base::log(base::LogLevel::error, error.what());
    }
    return error.exit_code();
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, base::message_of(error));
    abort_all_ranks(static_cast<int>(base::exit_code_of(error)));
  }
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::vector<RankPlace> places_of(const Communicator& world) {
  std::vector<RankPlace> places;
  const std::tuple own(host_name(), base::own_processors(), this_process());
  for (const auto& [host, processors, process] : world.gather_everywhere(own)) {
    RankPlace place{.name = "rank " + std::to_string(places.size()) + " on " + host,
                    .host = host,
                    .processors = processors,
                    .process = process};
    place.visible = place.host == host_name() && is_alive(place.process);
    if (place.visible && world.rank() == 0) {
      place.watch = std::make_shared<const ProcessWatch>(place.process);
    }
    places.push_back(std::move(place));
  }
  return places;
}

std::string mpi_description() {
  if (!mpi_runs()) {
    return "none (one rank)";
  }
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return std::string(base::trim(text.data()));
}

}  // namespace stereosweep::parallel
