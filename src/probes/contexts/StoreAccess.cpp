#include "probes/contexts/StoreAccess.hpp"

#include <cmath>
#include <string>
#include <thread>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Text.hpp"

namespace stereosweep::probes::contexts {

std::shared_ptr<const VectorStore> open_store(const std::filesystem::path& file, std::span<const WordVectors> words,
                                              std::uint64_t dimension, std::chrono::duration<double> patience) {
  constexpr std::chrono::duration<double> longest_pause{1};
  std::chrono::duration<double> pause{0.01};
  const auto start = std::chrono::steady_clock::now();
  for (bool told = false;;) {
    try {
      return std::make_shared<const VectorStore>(file, words, dimension);
    } catch (const base::InputError& error) {
      if (std::chrono::steady_clock::now() - start >= patience) {
        const auto waited = base::with_thousands(static_cast<std::uint64_t>(std::llround(patience.count())));
        throw base::InputError(base::describe(
            "this rank cannot read the vectors that rank zero has written", "after " + waited + " s: " + error.what(),
            "is --output on a file system that all nodes share? STEREOSWEEP_FILE_TIMEOUT_S sets how long is waited."));
      }
      if (!told) {
        base::log(base::LogLevel::info, std::string("waiting for the vectors to appear here: ") + error.what());
        told = true;
      }
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, longest_pause);
  }
}

}  // namespace stereosweep::probes::contexts
