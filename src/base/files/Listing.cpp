#include "base/files/Listing.hpp"

namespace stereosweep::base {
namespace {

template <class Iterator>
std::vector<std::filesystem::path> listed(const std::filesystem::path& folder, std::error_code& error) {
  std::vector<std::filesystem::path> paths;
  for (Iterator at(folder, error); !error && at != Iterator(); at.increment(error)) {
    paths.push_back(at->path());
  }
  return paths;
}

}  // namespace

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::error_code& error) {
  return listed<std::filesystem::directory_iterator>(folder, error);
}

std::vector<std::filesystem::path> tree_of(const std::filesystem::path& folder, std::error_code& error) {
  return listed<std::filesystem::recursive_directory_iterator>(folder, error);
}

std::filesystem::file_status status_of(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::status(path, ignored);
}

}  // namespace stereosweep::base
