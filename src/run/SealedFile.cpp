#include "run/SealedFile.hpp"

#include <fstream>

#include "base/Error.hpp"
#include "base/File.hpp"
#include "base/Log.hpp"
#include "results/PendingFile.hpp"
#include "results/Seal.hpp"

namespace stereosweep::run {

void write_sealed(const std::filesystem::path& file, std::span<const std::byte> content) {
  results::PendingFile pending(file);
  std::ofstream out(pending.path(), std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) {
    throw base::Error(base::describe("cannot write '" + file.string() + "'", "the disk may be full"));
  }
  pending.commit();
}

std::optional<std::vector<std::byte>> read_sealed(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return std::nullopt;
  }
  try {
    if (results::check_seal(file) == results::Seal::intact) {
      const auto mapped = base::map_file(file);
      const auto content = mapped.bytes.first(mapped.bytes.size() - results::seal_bytes);
      return std::vector<std::byte>(content.begin(), content.end());
    }
    base::log(base::LogLevel::warning, "'" + file.string() + "' has no seal: it is made anew");
  } catch (const base::InputError& error) {
    base::log(base::LogLevel::warning, std::string(error.what()) + ": it is made anew");
  }
  return std::nullopt;
}

}  // namespace stereosweep::run
