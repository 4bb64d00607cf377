#include "parallel/MpiSession.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/Error.hpp"
#include "base/FaultInjection.hpp"
#include "base/Text.hpp"
#include "parallel/MpiHandle.hpp"
#include "parallel/StartWatch.hpp"

namespace stereosweep::parallel {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool mpi_runs() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

}  // namespace

bool launched_as_rank() {
  if (is_set("OMPI_COMM_WORLD_SIZE")) {
    return true;  // mpirun
  }
  if (!is_set("PMIX_RANK") || !is_set("PMIX_NAMESPACE")) {
    return false;  // SLURM_* and PMI_* alone also stand in the shell of an allocation
  }
  return is_set("PMIX_SERVER_URI41") || is_set("PMIX_SERVER_URI4") || is_set("PMIX_SERVER_URI3") ||
         is_set("PMIX_SERVER_URI21") || is_set("PMIX_SERVER_URI2");  // srun --mpi=pmix
}

MpiSession::MpiSession() {
  if (!mpi_runs()) {
    if (!launched_as_rank()) {
      return;
    }
    // Waiting sleeps here; Open MPI's yielding in every poll would give whole time slices away on top (README).
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
    int provided = 0;
    {
      const StartWatch watch(start_limit());
      check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    }
    started_ = true;
    if (provided < MPI_THREAD_FUNNELED) {
      throw base::Error(base::describe("MPI gives no MPI_THREAD_FUNNELED", "a second thread of each rank scores"));
    }
  }
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  world_ = Communicator(std::make_shared<Communicator::Handle>(MPI_COMM_WORLD));
}

MpiSession::~MpiSession() {
  world_ = Communicator();
  if (started_ && mpi_runs()) {
    base::inject_fault("finalize");
    MPI_Finalize();
  }
}

void abort_all_ranks(int status) {
  ::alarm(10);  // SIGALRM's default action ends the process
  if (mpi_runs()) {
    MPI_Abort(MPI_COMM_WORLD, status == 0 ? 1 : status);
  }
  ::_exit(status == 0 ? 1 : status);
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
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
