// The corpus of the readers: real inputs are taken, damaged ones are refused, and neither is a fault.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/files/File.hpp"
#include "readers/Readers.hpp"
#include "support/Places.hpp"

namespace stereosweep::readers {
namespace {

std::filesystem::path corpus() { return std::filesystem::path(source_directory()) / "tests/readers/corpus"; }

TEST(Replay, EveryInputIsTakenOrRefused) {
  for (const auto& reader : all_readers()) {
    std::set<Outcome> outcomes;
    for (const auto& file : std::filesystem::directory_iterator(corpus() / reader.name)) {
      SCOPED_TRACE(file.path().string());
      const auto outcome = read_with(reader, base::read_file(file.path()));
      outcomes.insert(outcome);
      const bool is_damaged = file.path().filename().string().starts_with("damaged");
      EXPECT_EQ(outcome, is_damaged ? Outcome::refused : Outcome::taken);
    }
    EXPECT_EQ(outcomes.size(), 2U) << reader.name << " wants inputs of both kinds";
  }
}

// Cut anywhere, or with one byte changed: a few thousand small files.
TEST(Replay, CutAndChangedInputsAreNoFaults) {
  std::size_t refused = 0;
  for (const auto& reader : all_readers()) {
    const std::size_t step = reader.name == "elmo_weights" ? 997 : 61;  // each in a child process
    for (const auto& file : std::filesystem::directory_iterator(corpus() / reader.name)) {
      SCOPED_TRACE(file.path().string());
      auto bytes = base::read_file(file.path());
      for (std::size_t at = 0; at < bytes.size(); at += step) {
        refused += read_with(reader, std::string_view(bytes).substr(0, at)) == Outcome::refused ? 1 : 0;
        const auto before = bytes[at];
        bytes[at] = static_cast<char>(bytes[at] ^ 0x15);
        refused += read_with(reader, bytes) == Outcome::refused ? 1 : 0;
        bytes[at] = before;
      }
    }
  }
  EXPECT_GT(refused, 500U);
}

}  // namespace
}  // namespace stereosweep::readers
