#include "parallel/MpiSession.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <span>

#include "base/Bytes.hpp"
#include "base/Log.hpp"
#include "base/process/Environment.hpp"
#include "base/process/FaultInjection.hpp"
#include "base/text/Text.hpp"
#include "parallel/CallLimit.hpp"
#include "parallel/MpiHandle.hpp"

namespace stereosweep::parallel {
namespace {

constexpr const char* launcher_grace = "30";  ///< seconds from an abort until mpirun must have ended

bool mpi_runs() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

/// The words of /proc/NUMBER/stat behind the name, the first one empty: proc(5). None of a process that is gone.
std::vector<std::string> state_of(std::int64_t number) {
  std::ifstream file("/proc/" + std::to_string(number) + "/stat");
  std::string line;
  std::getline(file, line);
  return base::split(line.substr(line.rfind(')') + 1), ' ');
}

/// Nothing for a process that is gone, or dead and not yet fetched by its parent.
std::optional<std::uint64_t> start_of(std::int64_t number) {
  constexpr std::size_t start_place = 20;
  const auto words = state_of(number);
  if (words.size() <= start_place || words[1] == "Z" || words[1] == "X") {
    return std::nullopt;
  }
  return base::parse_integer(words[start_place]);
}

/// 0 where nothing is known.
std::int64_t parent_of(std::int64_t number) {
  const auto words = state_of(number);
  return words.size() > 2 ? base::parse_integer(words[2]).value_or(0) : 0;
}

/// The mpirun above this process; nothing where another launcher has started it.
std::optional<RankProcess> find_launcher() {
  constexpr int most_between = 5;  // shells and wrappers
  auto process = static_cast<std::int64_t>(::getppid());
  for (int i = 0; i < most_between && process > 1; ++i) {
    std::string name;
    std::ifstream("/proc/" + std::to_string(process) + "/comm") >> name;
    if (name.starts_with("mpirun") || name.starts_with("mpiexec") || name == "orterun" || name == "orted" ||
        name.starts_with("prte")) {
      return RankProcess{process, start_of(process).value_or(0)};
    }
    process = parent_of(process);
  }
  return std::nullopt;
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
    if (provided < MPI_THREAD_FUNNELED) {
      throw base::Error(base::describe("MPI gives no MPI_THREAD_FUNNELED", "a second thread of each rank scores"));
    }
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
  }
}

void end_launcher_if_it_stays() {
  const auto launcher = find_launcher();
  if (!launcher || launcher->start == 0) {
    return;
  }
  // A shell, because a process with threads may do next to nothing between fork and exec. Words 20 and on: `start_of`.
  const std::string script = R"(sleep "$1"; read -r line < "/proc/$2/stat" || exit; set -- "$2" "$3" ${line##*) }; )"
                             R"([ "${22}" = "$2" ] && kill -9 "$1")";
  const auto number = std::to_string(launcher->number);
  const auto start = std::to_string(launcher->start);
  const std::array<const char*, 8> words = {"sh",           "-c",           script.c_str(), "stereosweep: ends mpirun",
                                            launcher_grace, number.c_str(), start.c_str(),  nullptr};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDERR_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  pid_t guard = 0;
  ::posix_spawn(&guard, "/bin/sh", &files, &attributes, const_cast<char* const*>(words.data()), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
}

void abort_all_ranks(int status) {
  end_launcher_if_it_stays();
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

RankProcess this_process() { return {::getpid(), start_of(::getpid()).value_or(0)}; }

bool is_alive(const RankProcess& process) { return process.start != 0 && start_of(process.number) == process.start; }

std::vector<RankPlace> places_of(const Communicator& group, int world_rank) {
  const auto own = this_process();
  base::ByteWriter out;
  out.number(world_rank).text(host_name()).number(own.number).number(own.start);
  std::vector<RankPlace> places;
  const auto bytes = out.take();
  for (const auto& text : group.gather_everywhere({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) {
    base::ByteReader in(std::as_bytes(std::span(text)));
    const auto number = in.number<int>();
    RankPlace place;
    place.host = in.text();
    place.name = "rank " + std::to_string(number) + " on " + place.host;
    place.process.number = in.number<std::int64_t>();
    place.process.start = in.number<std::uint64_t>();
    place.visible = place.host == host_name() && is_alive(place.process);
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
