#include "results/SealedFile.hpp"

#include "base/Error.hpp"
#include "base/File.hpp"
#include "base/Log.hpp"
#include "base/PendingFile.hpp"
#include "results/Seal.hpp"

namespace stereosweep::results {

void write_sealed(const std::filesystem::path& file, std::span<const std::byte> content) {
  base::PendingFile pending(file, base::PendingFile::Readers::owner);  // a corpus's sentences are nobody else's
  pending.write({reinterpret_cast<const char*>(content.data()), content.size()});
  results::commit_sealed(pending);
}

std::optional<std::vector<std::byte>> read_sealed(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return std::nullopt;
  }
  try {
    if (results::check_seal(file) == results::Seal::intact) {
      const auto opened = base::open_file(file);
      std::vector<std::byte> content(opened.size() - results::seal_bytes);
      opened.read(0, content);
      return content;
    }
    base::log(base::LogLevel::warning, "'" + file.string() + "' has no seal: it is made anew");
  } catch (const base::InputError& error) {
    base::log(base::LogLevel::warning, std::string(error.what()) + ": it is made anew");
  }
  return std::nullopt;
}

}  // namespace stereosweep::results
