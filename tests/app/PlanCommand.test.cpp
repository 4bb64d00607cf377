// `plan` from a job file to its report, on a model directory without weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "probes/TinyTokenizers.hpp"
#include "probes/association/Association.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* job_text = R"(schema: stereosweep/1
name: tiny
model: {path: MODEL}
probe: association
axes:
  groups:
    - {label: women, domain: gender, singular: woman, plural: women}
    - {label: doctors, domain: occupation, singular: doctor, plural: doctors}
  traits:
    - {label: cold - warm, dimension: communion, left: [cold, zealous], right: [warm, powerless]}
  templates:
    - {label: plain, kind: plural, text: "{group} are {trait}."}
    - {label: single, kind: singular, text: "{a group} is {trait}."}
)";

class PlanCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() /
                 ("stereosweep_plan_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "_" +
                  std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
    write("tokenizer.json", probes::testing::word_piece_json().dump());
    write("tokenizer_config.json", R"({"mask_token": "[MASK]"})");
    write("config.json", R"({"model_type": "bert", "vocab_size": 100, "hidden_size": 8, "intermediate_size": 16,
      "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 9, "type_vocab_size": 2})");
    std::string text = job_text;
    text.replace(text.find("MODEL"), 5, directory_.string());
    write("job.yaml", text);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, const std::string& content) const { std::ofstream(directory_ / name) << content; }

  std::string plan(Arguments arguments) const {
    arguments.insert(arguments.begin(), (directory_ / "job.yaml").string());
    std::ostringstream captured;
    auto* before = std::cout.rdbuf(captured.rdbuf());
    auto status = base::ExitCode::error;
    try {
      status = execute(plan_command, arguments);
    } catch (...) {
      std::cout.rdbuf(before);
      throw;
    }
    std::cout.rdbuf(before);
    EXPECT_EQ(status, base::ExitCode::done);
    return captured.str();
  }

  std::filesystem::path directory_;
};

TEST_F(PlanCommandTest, CountsWithoutReadingWeights) {
  const std::string report = plan({"--ranks", "3"});
  EXPECT_THAT(report, HasSubstr("4 subjects (2 priors) x 2 templates x 1 rephrasing = 8 contexts"));
  EXPECT_THAT(report, HasSubstr("32 (contexts x 4 words)"));
  EXPECT_THAT(report, HasSubstr("ok 24  unknown_token 8"));
  // Per context: cold and warm share one input, powerless needs two more; alone: 1 + 1 + 2.
  EXPECT_THAT(report, HasSubstr("24 distinct masked inputs; one forward pass per cell and subword would be 32"));
  EXPECT_THAT(report, HasSubstr("4 of at most 16 contexts; 2 per rank on 3 ranks"));
  EXPECT_THAT(report, HasSubstr("powerless  (pieces: power ##less)"));
  EXPECT_THAT(report, HasSubstr("zealous"));
  EXPECT_THAT(report, HasSubstr(" of 9\n")) << "the model's positions";
}

TEST_F(PlanCommandTest, EstimatesTheTimeWhereAsked) {
  EXPECT_THAT(plan({}), HasSubstr("time       not estimated: with --measure "));
  const auto report = plan({"execution.engine=fake", "--measure", "--ranks", "2"});
  EXPECT_THAT(report, HasSubstr("time       about 0:00:00 (h:mm:ss) on 2 ranks as fast as this process"));
  EXPECT_THAT(report, HasSubstr("an estimate: 4 of 4 blocks took 0.0 s here\n"));
  EXPECT_THROW(plan({"--measure"}), base::InputError) << "these are no weights";
}

TEST_F(PlanCommandTest, OverridesCount) {
  EXPECT_THAT(plan({"priors.mask=false", "measures=[ilps]"}), HasSubstr("(1 prior) x 2 templates"));
}

TEST_F(PlanCommandTest, ShowsTheTextOfEveryCell) {
  const std::string report = plan({"--show-prompts"});
  EXPECT_THAT(report, HasSubstr("women\tplain\tnone\twarm\tok\tWomen are warm.\n"));
  EXPECT_THAT(report, HasSubstr("doctors\tsingle\tnone\tzealous\tunknown_token\tA doctor is zealous.\n"));
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\t') / 5; };
  EXPECT_EQ(lines(report), 1 + 32);
  EXPECT_EQ(lines(plan({"--show-prompts", "--limit", "7"})), 1 + 7);
}

TEST_F(PlanCommandTest, NamesTextsBeyondTheModelsPositions) {
  EXPECT_THAT(plan({}), Not(HasSubstr("too long")));
  write("config.json", R"({"model_type": "bert", "vocab_size": 100, "hidden_size": 8, "intermediate_size": 16,
    "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 7, "type_vocab_size": 2})");
  EXPECT_THAT(plan({}), HasSubstr("too long"));
}

TEST_F(PlanCommandTest, RefusesBadArguments) {
  EXPECT_THROW(plan({"--ranks", "0"}), base::InputError);
  EXPECT_THROW(plan({"--ranks", "4294967296"}), base::InputError);  // 0 in 32 bits
  EXPECT_THROW(plan({"--limit", "-1"}), base::InputError);
  EXPECT_THROW(plan({"--what"}), base::InputError);
  EXPECT_THROW(execute(plan_command, {}), base::InputError);
  EXPECT_THROW(plan({"model.path=/nowhere/at/all"}), base::InputError);
}

TEST(ModelCost, CountsBertBase) {
  model::MaskedSpecification config;
  config.vocabulary = 30522;
  config.hidden = 768;
  config.inner = 3072;
  config.layers.resize(12);
  config.names.positions = "positions";
  config.num_heads = 12;
  config.positions = 512;
  config.token_types = 2;
  // transformers: BertForMaskedLM(BertConfig()).num_parameters() with its tied decoder.
  EXPECT_EQ(probes::association::model_cost(config).parameters, 109514298u);
  EXPECT_DOUBLE_EQ(probes::association::model_cost(config).flops_per_token,
                   2.0 * 12 * (4.0 * 768 * 768 + 2.0 * 768 * 3072));
}

}  // namespace
}  // namespace stereosweep::app
