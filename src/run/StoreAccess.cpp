#include "run/StoreAccess.hpp"

#include <cmath>
#include <string>
#include <thread>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Text.hpp"

namespace stereosweep::run {

std::shared_ptr<const probe::VectorStore> open_store(const std::filesystem::path& file,
                                                     std::span<const probe::WordVectors> words, std::uint64_t dimension,
                                                     Seconds patience) {
  constexpr Seconds longest_pause{1};
  Seconds pause{0.01};
  const auto start = Clock::now();
  for (bool told = false;;) {
    try {
      return std::make_shared<const probe::VectorStore>(file, words, dimension);
    } catch (const base::InputError& error) {
      if (since(start) >= patience) {
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

}  // namespace stereosweep::run
