#include "run/Run.hpp"

#include "base/Bytes.hpp"
#include "base/FaultInjection.hpp"
#include "base/File.hpp"
#include "base/Log.hpp"
#include "config/JobDump.hpp"
#include "config/JobLoader.hpp"
#include "parallel/Coordinated.hpp"
#include "run/EarlyEnds.hpp"
#include "run/OneJob.hpp"

namespace stereosweep::run {
namespace {

namespace fs = std::filesystem;

/// Jobs as rank zero read them: resolved texts and the directory of each.
struct LoadedJobs {
  std::vector<std::string> dumps;
  std::vector<std::string> roots;
  std::string text;  ///< the file as written
};

LoadedJobs load(const RunRequest& request) {
  const bool is_run = fs::is_directory(request.job);
  const auto file = is_run ? request.job / "job.resolved.yaml" : request.job;
  LoadedJobs loaded;
  const auto jobs = config::load_jobs(file, request.overrides);
  loaded.text = base::read_file(file);
  for (const auto& job : jobs) {
    auto root = request.output.empty() && is_run ? request.job : request.output;
    if (root.empty()) {
      root = fs::path("results") / job.name;
    } else if (jobs.size() > 1) {
      root /= job.name;
    }
    loaded.dumps.push_back(config::canonical_dump(job));
    loaded.roots.push_back(root.string());
  }
  return loaded;
}

std::vector<std::byte> encode(const LoadedJobs& loaded) {
  base::ByteWriter out;
  out.text(loaded.text);
  for (std::size_t i = 0; i < loaded.dumps.size(); ++i) {
    out.text(loaded.dumps[i]).text(loaded.roots[i]);
  }
  return out.take();
}

LoadedJobs decode(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  LoadedJobs loaded;
  loaded.text = in.text();
  while (!in.done()) {
    loaded.dumps.push_back(in.text());
    loaded.roots.push_back(in.text());
  }
  return loaded;
}

}  // namespace

base::ExitCode run_jobs(const RunRequest& request, const parallel::Communicator& world, SignalWatcher& signals,
                        parallel::Heartbeat* heartbeat) {
  base::set_log_rank(world.size() > 1 ? world.rank() : -1);
  base::set_fault_rank(world.rank());
  signals.set_action([rank = world.rank(), heartbeat](int signal) { leave_for_signal(signal, rank, heartbeat); });
  auto bytes = parallel::coordinated(
      world, [&] { return world.rank() == 0 ? encode(load(request)) : std::vector<std::byte>(); });
  const auto loaded = decode(world.broadcast(std::move(bytes), 0));
  for (std::size_t i = 0; i < loaded.dumps.size(); ++i) {
    auto job = parallel::coordinated(world, [&] { return config::load_resolved(loaded.dumps[i], loaded.roots[i]); });
    OneJob one(request, std::move(job), loaded.text, loaded.roots[i], world, signals, heartbeat);
    const auto code = one.run();
    if (code != base::ExitCode::done) {
      return code;
    }
  }
  return base::ExitCode::done;
}

}  // namespace stereosweep::run
