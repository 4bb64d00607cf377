#include "findings/sharing/KeptPieces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/files/File.hpp"
#include "base/files/PendingFile.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::findings {
namespace {

using Piece = std::vector<std::byte>;

/// Asks for three pieces, the second of which is quick; how many were computed.
class KeptPiecesTest : public ::testing::Test {
 protected:
  int ask(const std::string& digest, int pieces = 3) {
    int computed = 0;
    KeptPieces kept({}, path(), digest);
    for (int place = 0; place < pieces; ++place) {
      const auto piece = kept.next([&] {
        ++computed;
        std::this_thread::sleep_for(std::chrono::milliseconds(place == 1 ? 0 : 130));
        return Piece(static_cast<std::size_t>(place + 3), std::byte(place));
      });
      EXPECT_EQ(piece, Piece(static_cast<std::size_t>(place + 3), std::byte(place)));
    }
    if (pieces == 3) {
      kept.end();
    }
    return computed;
  }
  std::filesystem::path path() const { return directory_.path() / "x.kept"; }

 private:
  testing::TemporaryDirectory directory_;
};

TEST_F(KeptPiecesTest, TakesOverWhatTookLongAndRemovesItAtTheEnd) {
  EXPECT_EQ(ask("a", 1), 1);
  EXPECT_TRUE(std::filesystem::exists(path()));
  EXPECT_EQ(ask("a", 2), 1);
  EXPECT_EQ(ask("a"), 2) << "the quick piece and the third";
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_EQ(ask("a"), 3);
}

TEST_F(KeptPiecesTest, TakesNothingOverThatBelongsToOtherWorkOrIsDamaged) {
  ask("a", 2);
  const auto whole = base::read_file(path());
  EXPECT_EQ(ask("b", 2), 2);
  for (std::size_t place = 0; place < whole.size(); place += 7) {
    auto damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    base::write_file_atomically(path(), damaged);
    EXPECT_EQ(ask("a", 1), 1) << place;
    base::write_file_atomically(path(), whole.substr(0, place));
    EXPECT_EQ(ask("a", 1), 1) << place;
  }
  base::write_file_atomically(path(), whole);
  EXPECT_EQ(ask("a", 1), 0);
}

}  // namespace
}  // namespace stereosweep::findings
