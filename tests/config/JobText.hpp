// A small job for tests, and a folder to load jobs from.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::config {

/// Line numbers in tests count from this text.
inline const std::string small_job =
    "schema: stereosweep/1\n"                                                                 // 1
    "name: small\n"                                                                           // 2
    "model: {path: nowhere}\n"                                                                // 3
    "probe: association\n"                                                                    // 4
    "axes:\n"                                                                                 // 5
    "  groups:\n"                                                                             // 6
    "    - {singular: woman, plural: women, domain: gender, adjective: female}\n"             // 7
    "    - {singular: man, plural: men, domain: gender, adjective: male}\n"                   // 8
    "    - {singular: Black person, plural: Black people, domain: race, adjective: Black}\n"  // 9
    "  intersections: {domains: all}\n"                                                       // 10
    "  traits: [[weak, strong]]\n"                                                            // 11
    "  templates:\n"                                                                          // 12
    "    - {label: plain, text: \"{group} are {trait}.\"}\n"                                  // 13
    "  rephrasings: none\n";                                                                  // 14

/// What is complained about; "" if nothing is.
std::string complaint_of(const auto& act) {
  try {
    act();
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

/// Jobs and pieces on disk.
class JobFolder {
 public:
  JobFolder() { std::filesystem::create_directories(folder_ / "jobs"); }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::vector<sweep::Job> load(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    return load_jobs(write("jobs/job.yaml", text), overrides);
  }
  /// What loading complains about; "" if it does not.
  std::string complaint(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    return complaint_of([&] { load(text, overrides); });
  }

 private:
  testing::TemporaryDirectory folder_;
};

/// `text` with `from` replaced; the test fails if it is not there.
inline std::string with(const std::string& text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return base::replace_all(text, from, to);
}

}  // namespace stereosweep::config
