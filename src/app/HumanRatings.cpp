#include "app/HumanRatings.hpp"

#include <filesystem>
#include <iostream>

#include "base/File.hpp"
#include "base/Sha256.hpp"
#include "config/Ratings.hpp"

namespace stereosweep::app {

std::vector<results::Rating> ratings_of(const domain::Job& job) {
  const auto ratings = config::read_ratings(job);
  for (const auto& note : ratings.notes) {
    std::cout << "ratings: " << note << '\n';
  }
  std::vector<results::Rating> rows;
  for (const auto& row : ratings.rows) {
    rows.push_back({row.group, row.pair, row.mean});
  }
  return rows;
}

std::string source_of_ratings(const std::string& path) {
  return std::filesystem::path(path).filename().string() + " (SHA-256 " +
         base::to_hex(base::sha256(base::read_file(path))) + ")";
}

}  // namespace stereosweep::app
