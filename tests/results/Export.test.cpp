#include "results/Export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <fstream>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "results/Reader.hpp"
#include "results/Seal.hpp"
#include "results/SyntheticRun.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::results {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Digest of what `source` gives; blocks that are not scored count as in the exported file.
base::Digest digest_of_blocks(const RawSchema& schema, const sweep::BlockPlan& blocks, const BlockSource& source) {
  const auto full = with_not_scored(schema);
  RawDigest digest(full);
  for (std::uint64_t index = 0; index < blocks.num_blocks(); ++index) {
    const auto block = blocks.block(index);
    const auto raw = source(block);
    digest.add(raw.has_value() ? *raw : unscored_block(full, block.num_contexts));
  }
  return digest.finish();
}

class ExportTest : public ::testing::Test {
 protected:
  ExportCounts write(const std::string& name, std::uint64_t contexts_per_block, std::set<std::uint64_t> missing = {}) {
    const auto plan = testing::synthetic_plan(schema_, contexts_per_block);
    return export_run(testing::synthetic_run(schema_, plan, testing::synthetic_source(missing)), directory_ / name);
  }
  testing::TemporaryDirectory directory_;
  RawSchema schema_ = testing::synthetic_schema(5);
};

/// Bits, so that NaN equals NaN.
std::vector<std::uint64_t> bits(const RawColumn& column) {
  std::vector<std::uint64_t> result;
  for (const auto value : std::get<std::vector<double>>(column)) {
    result.push_back(std::bit_cast<std::uint64_t>(value));
  }
  return result;
}

TEST_F(ExportTest, EveryRangeOfContextsReadsBack) {
  const auto counts = write("a.h5", 4);
  EXPECT_EQ(counts.num_blocks, 14U);
  EXPECT_EQ(counts.num_blocks_scored, 14U);
  const ResultFile file(directory_ / "a.h5");
  ASSERT_EQ(file.num_contexts(), 42U);
  for (std::uint64_t first = 0; first < 42; ++first) {
    for (std::uint64_t count = 1; first + count <= 42; count += 5) {
      const auto read = file.read(first, count);
      const auto expected = testing::synthetic_block({0, first, count});
      EXPECT_EQ(bits(read.columns[0]), bits(expected.columns[0])) << first << " + " << count;
      for (const std::size_t cube : {1U, 2U, 3U}) {
        EXPECT_EQ(read.columns[cube], expected.columns[cube]) << first << " + " << count;
      }
    }
  }
}

TEST_F(ExportTest, TheSchemaReadsBack) {
  write("a.h5", 100);
  const ResultFile file(directory_ / "a.h5");
  const auto& read = file.schema();
  EXPECT_EQ(read.num_priors, 2U);
  EXPECT_EQ(read.outer_axes[0].labels, schema_.outer_axes[0].labels);
  EXPECT_EQ(read.outer_axes[0].coordinates[0].name, "domain");
  EXPECT_EQ(read.outer_axes[0].coordinates[0].values, schema_.outer_axes[0].labels);
  EXPECT_EQ(read.inner_axis("word").coordinates[0].values, schema_.inner_axes[0].coordinates[0].values);
  EXPECT_EQ(read.inner_axis("word").coordinates[1].name, "pair");
  EXPECT_EQ(read.cubes[0].name, "logprob");
  EXPECT_THAT(read.cubes[0].inner_axes, ElementsAre("word", "subword"));
  EXPECT_EQ(read.cubes[0].units, "nat");
  EXPECT_THAT(read.cubes[2].flag_meanings, ElementsAre("ok", "unknown_token", "not_scored"));
  EXPECT_TRUE(file.complete());
  EXPECT_EQ(file.text("title"), "synthetic");
  EXPECT_EQ(file.number("seed"), 7);
  EXPECT_EQ(file.document("job_yaml"), "name: größe\n# comment\n");
  EXPECT_EQ(file.document("absent"), std::nullopt);
}

TEST_F(ExportTest, AnyAxesWithoutPriorsReadBack) {
  RawSchema schema;
  schema.outer_axes = {testing::numbered_axis("identity", 2), testing::numbered_axis("form", 3),
                       testing::numbered_axis("rephrasing", 2), testing::numbered_axis("sentence", 5)};
  schema.outer_axes.back().coordinates = {{"type", "type of the sentence", {"1", "2", "1", "2", "1"}}};
  schema.inner_axes = {testing::numbered_axis("occupation", 2)};
  schema.cubes = {{"logprob", ElementType::float64, {"occupation"}, "nat", "log-probability", "", {}},
                  {"status", ElementType::uint8, {}, "", "status", "", {"ok", "too_long"}},
                  {"prompt", ElementType::text, {}, "", "prompt", "", {}}};
  const auto make_block = [](std::uint64_t first, std::uint64_t count) {
    RawBlock block{{std::vector<double>(), std::vector<std::uint8_t>(), std::vector<std::string>()}};
    for (auto context = first; context < first + count; ++context) {
      std::get<0>(block.columns[0]).push_back(-static_cast<double>(context));
      std::get<0>(block.columns[0]).push_back(-0.5);
      std::get<2>(block.columns[1]).push_back(static_cast<std::uint8_t>(context % 2));
      std::get<3>(block.columns[2]).push_back("text " + std::to_string(context));
    }
    return block;
  };
  const auto plan = testing::synthetic_plan(schema, 7);
  const auto source = [&](const sweep::Block& block) -> std::optional<RawBlock> {
    return make_block(block.first_context, block.num_contexts);
  };
  const auto counts = export_run(testing::synthetic_run(schema, plan, source), directory_ / "four.h5");
  EXPECT_EQ(counts.num_blocks, 10U) << "30 contexts of each identity, 7 in a block";
  const ResultFile file(directory_ / "four.h5");
  ASSERT_EQ(file.num_contexts(), 60U);
  EXPECT_EQ(file.schema().num_priors, 0U);
  ASSERT_EQ(file.schema().outer_axes.size(), 4U);
  EXPECT_EQ(file.schema().outer_axes[3].coordinates[0].values, schema.outer_axes[3].coordinates[0].values);
  for (std::uint64_t first = 0; first < 60; ++first) {
    for (std::uint64_t count = 1; first + count <= 60; count += 6) {
      EXPECT_EQ(file.read(first, count).columns, make_block(first, count).columns) << first << " + " << count;
    }
  }
  EXPECT_EQ(digest_of_file(file), digest_of_blocks(schema, plan, source));
}

TEST_F(ExportTest, UnscoredBlocksSayNotScored) {
  const auto counts = write("a.h5", 4, {1, 13});
  EXPECT_EQ(counts.num_blocks_scored, 12U);
  const ResultFile file(directory_ / "a.h5");
  EXPECT_FALSE(file.complete());
  EXPECT_EQ(file.number("num_blocks_scored"), 12);
  const auto missing = file.read(4, 2);  // block 1 has the last two contexts of the first prior
  for (const auto status : std::get<std::vector<std::uint8_t>>(missing.columns[2])) {
    EXPECT_EQ(status, 2);
  }
  for (const auto value : std::get<std::vector<double>>(missing.columns[0])) {
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_THAT(std::get<std::vector<std::string>>(missing.columns[3]), ElementsAre("", ""));
}

TEST_F(ExportTest, EqualRunsGiveEqualBytesAndOtherBlocksTheSameNumbers) {
  write("a.h5", 4);
  write("b.h5", 4);
  write("c.h5", 1);
  EXPECT_EQ(base::read_file(directory_ / "a.h5"), base::read_file(directory_ / "b.h5"));
  EXPECT_EQ(digest_of_file(ResultFile(directory_ / "a.h5")), digest_of_file(ResultFile(directory_ / "c.h5")));
}

/// Several slabs, of which threads compress some while others are read and written.
TEST_F(ExportTest, NoByteDependsOnTheNumberOfThreads) {
  schema_ = testing::synthetic_schema(12'000);
  const auto plan = testing::synthetic_plan(schema_, 1000);
  auto run = testing::synthetic_run(schema_, plan, testing::synthetic_source({1, 20}));
  const auto alone = export_run(run, directory_ / "1.h5");
  for (const auto num_threads : {2U, 5U}) {
    run.num_threads = num_threads;
    const auto file = directory_ / (std::to_string(num_threads) + ".h5");
    EXPECT_EQ(export_run(run, file).digest, alone.digest);
    EXPECT_TRUE(base::read_file(file) == base::read_file(directory_ / "1.h5")) << num_threads;
  }
}

TEST_F(ExportTest, TheDigestOfFileAndBlocksAgree) {
  for (const std::set<std::uint64_t>& missing : {std::set<std::uint64_t>{}, {0, 3}}) {
    write("a.h5", 4, missing);
    const auto plan = testing::synthetic_plan(schema_, 4);
    const ResultFile file(directory_ / "a.h5");
    EXPECT_EQ(digest_of_file(file), digest_of_blocks(schema_, plan, testing::synthetic_source(missing)));
    EXPECT_EQ(file.text(raw_digest_name), base::to_hex(digest_of_file(file)));
  }
}

TEST_F(ExportTest, AStatedDigestCountsUnderASealOnly) {
  write("a.h5", 4);
  const auto path = directory_ / "a.h5";
  const auto digest = base::to_hex(digest_of_file(ResultFile(path)));
  EXPECT_EQ(stated_digest(ResultFile(path)), digest);
  auto bytes = base::read_file(path);
  const auto place = bytes.find(digest);
  ASSERT_NE(place, std::string::npos);
  bytes.replace(place, 4, digest.starts_with("0000") ? "1111" : "0000");
  bytes.resize(bytes.size() - seal_bytes);
  std::ofstream(path, std::ios::binary) << bytes;
  const ResultFile changed(path);
  EXPECT_NE(changed.text(raw_digest_name), digest);
  EXPECT_EQ(stated_digest(changed), digest);
}

TEST_F(ExportTest, AnyChangedNumberChangesTheDigest) {
  const auto plan = testing::synthetic_plan(schema_, 42);
  const auto source = [](std::size_t cube, std::size_t index) -> BlockSource {
    return [=](const sweep::Block& block) {
      auto raw = testing::synthetic_block(block);
      if (block.first_context == 0) {
        std::visit(
            [&](auto& values) {
              if constexpr (std::is_same_v<std::decay_t<decltype(values[0])>, std::string>) {
                values[index] += "x";
              } else {
                values[index] += 1;
              }
            },
            raw.columns[cube]);
      }
      return std::optional(raw);
    };
  };
  std::set<base::Digest> digests = {digest_of_blocks(schema_, plan, testing::synthetic_source())};
  for (std::size_t cube = 0; cube < 4; ++cube) {
    digests.insert(digest_of_blocks(schema_, plan, source(cube, 0)));
    digests.insert(digest_of_blocks(schema_, plan, source(cube, 3)));
  }
  EXPECT_EQ(digests.size(), 9U);
}

/// Another program may have put it there, and whoever reads it looks its name up.
TEST_F(ExportTest, AFlagWithoutAMeaningIsRefused) {
  const auto plan = testing::synthetic_plan(schema_, 42);
  const auto source = [](const sweep::Block& block) {
    auto raw = testing::synthetic_block(block);
    std::get<std::vector<std::uint8_t>>(raw.columns[2])[5] = 3;  // "not_scored" is 2
    return std::optional(raw);
  };
  export_run(testing::synthetic_run(schema_, plan, source), directory_ / "a.h5");
  const ResultFile file(directory_ / "a.h5");
  EXPECT_THAT([&] { file.read(0, 42); },
              ThrowsMessage<base::InputError>(AllOf(HasSubstr("a.h5"), HasSubstr("flag without a meaning"))));
}

TEST_F(ExportTest, AFailedExportLeavesTheOldFile) {
  write("a.h5", 4);
  const auto before = base::read_file(directory_ / "a.h5");
  const auto plan = testing::synthetic_plan(schema_, 4);
  const auto failing = [](const sweep::Block& block) -> std::optional<RawBlock> {
    if (block.index == 9) {
      throw base::Error("the journal is damaged");
    }
    return testing::synthetic_block(block);
  };
  auto run = testing::synthetic_run(schema_, plan, failing);
  run.num_threads = 2;
  EXPECT_THAT([&] { export_run(run, directory_ / "a.h5"); }, ThrowsMessage<base::Error>(HasSubstr("damaged")));
  EXPECT_EQ(base::read_file(directory_ / "a.h5"), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 1) << "a partial file stays";
}

TEST_F(ExportTest, DamageThatHdf5FindsIsToldWithTheFilesName) {
  write("a.h5", 7);
  auto content = base::read_file(directory_ / "a.h5");
  content.resize(content.size() - seal_bytes);
  int refused = 0;
  for (auto at = content.find("OHDR"); at != std::string::npos; at = content.find("OHDR", at + 1)) {
    auto damaged = content;
    damaged[at + 8] = static_cast<char>(damaged[at + 8] ^ 1);
    const auto path = directory_ / "damaged.h5";
    base::PendingFile pending(path);
    pending.write(damaged);
    commit_sealed(pending);
    try {
      const ResultFile file(path);
    } catch (const base::InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("damaged.h5"));
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST_F(ExportTest, OtherFilesAreRefused) {
  {
    auto file = hdf5::File::create(directory_ / "other.h5");
    file.finish();
  }
  EXPECT_THAT([&] { ResultFile file(directory_ / "other.h5"); },
              ThrowsMessage<base::Error>(HasSubstr("no file of raw numbers")));
  EXPECT_THROW(ResultFile file(directory_ / "absent.h5"), base::Error);
}

}  // namespace
}  // namespace stereosweep::results
