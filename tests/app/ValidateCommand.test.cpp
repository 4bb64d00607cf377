// `validate` as a user calls it: exit status and words, for every job that is shipped and for broken ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "probes/association/Association.hpp"
#include "support/Places.hpp"
#include "support/RegisteredProbes.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::app {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path source = source_directory();

struct Outcome {
  int exit_code = -1;
  std::string output;  ///< both streams
};

Outcome run_program(const std::string& arguments) {
  Outcome outcome;
  const std::string command = program_path() + " " + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  for (std::size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.output.append(buffer.data(), count);
  }
  const int status = ::pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

TEST(ValidateCommand, every_shipped_job_is_valid) {
  int num_jobs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source / "jobs")) {
    if (entry.path().extension() == ".yaml") {
      const auto outcome = run_program("validate " + entry.path().string());
      EXPECT_EQ(outcome.exit_code, 0) << entry.path() << '\n' << outcome.output;
      EXPECT_THAT(outcome.output, HasSubstr("contexts")) << entry.path();
      ++num_jobs;
    }
  }
  EXPECT_GE(num_jobs, 2);
}

TEST(ValidateCommand, prints_one_line_per_job_of_the_sweep) {
  const auto outcome =
      run_program("validate " + (source / "jobs/00_smoke.yaml").string() + " 'sweep={seed: [1, 2]}' 'measures=[ilps]'");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("smoke.1: 4 groups + 7 intersections + 2 priors, 3 templates x 2 rephrasings, "
                                        "2 trait pairs (4 words): 78 contexts, 312 cells"));
  EXPECT_THAT(outcome.output, HasSubstr("smoke.2: "));
}

TEST(ValidateCommand, counts_a_word_of_two_poles_twice_as_the_result_does) {
  const auto outcome = run_program("validate " + (source / "jobs/10_planted.yaml").string());
  EXPECT_THAT(outcome.output, HasSubstr("16 trait pairs (118 words): 1,484 contexts, 175,112 cells"));
}

TEST(ValidateCommand, bad_input_ends_with_two) {
  const testing::TemporaryDirectory folder;
  std::ofstream(folder / "cycle.yaml") << "a: &x\n  - *x";
  EXPECT_EQ(run_program("validate " + (folder / "cycle.yaml").string()).exit_code, 2);
  EXPECT_EQ(run_program("validate " + (folder / "missing.yaml").string()).exit_code, 2);
  EXPECT_EQ(run_program("validate").exit_code, 2);
  EXPECT_EQ(run_program("validate --unknown").exit_code, 2);
  EXPECT_EQ(run_program("validate --help").exit_code, 0);
  const auto outcome = run_program("validate " + (source / "jobs/00_smoke.yaml").string() + " probe=asociation");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("command line:probe: unknown value 'asociation'"));
}

TEST(ValidateCommand, a_model_that_is_elsewhere_is_a_note) {
  const auto outcome =
      run_program("validate " + (source / "jobs/00_smoke.yaml").string() + " model.path=/no/such/model");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("note: the model '/no/such/model' is not on this machine"));
}

const std::string planted = "model.path=" + (source / "tests/models/planted").string();
const std::string planted_causal = "model.path=" + (source / "tests/models/planted_causal").string();

/// With `model` in place of the job's.
Outcome validate(const std::string& job, const std::string& model) {
  return run_program("validate " + (source / "jobs" / job).string() + " " + model);
}

TEST(ValidateCommand, a_model_of_the_wrong_kind_is_refused) {
  const auto fill = validate("10_planted.yaml", planted_causal);
  EXPECT_EQ(fill.exit_code, 2);
  EXPECT_THAT(fill.output, HasSubstr("command line:model.path: "));
  EXPECT_THAT(fill.output, HasSubstr("is a causal model (GPT-2, LLaMA, ...) (the probe 'association' asks a masked "
                                     "model (BERT, RoBERTa))"));
  EXPECT_THAT(fill.output, ::testing::Not(HasSubstr("mask token")));  // which follows from it
  for (const auto* job : {"40_winoidentity.yaml", "50_ratings.yaml"}) {
    const auto outcome = validate(job, planted);
    EXPECT_EQ(outcome.exit_code, 2) << job;
    EXPECT_THAT(outcome.output, HasSubstr("is a masked model (BERT, RoBERTa)")) << job;
  }
  EXPECT_EQ(validate("10_planted.yaml", planted).exit_code, 0);
  EXPECT_EQ(run_program("plan " + (source / "jobs/10_planted.yaml").string() + " " + planted_causal).exit_code, 2);
}

TEST(ValidateCommand, a_checkpoint_that_cannot_be_read_is_refused) {
  const testing::TemporaryDirectory folder;
  const auto refill = [&](const std::string& config) {
    std::filesystem::remove_all(folder / "model");
    std::filesystem::copy(source / "tests/models/letters", folder / "model");
    if (!config.empty()) {
      std::ofstream(folder / "model/config.json") << config;
    }
  };
  const auto refusal = [&] {
    const auto outcome = validate("10_planted.yaml", "model.path=" + (folder / "model").string());
    EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
    return outcome.output;
  };
  refill("{\"model_type\": \"t5\"}");
  EXPECT_THAT(refusal(),
              ::testing::AllOf(HasSubstr("\"t5\" is not supported"), HasSubstr("bert, roberta"), HasSubstr("llama")));
  refill("");
  EXPECT_EQ(validate("10_planted.yaml", "model.path=" + (folder / "model").string()).exit_code, 0);
  std::ofstream(folder / "model/pytorch_model.bin") << "x";
  EXPECT_THAT(refusal(), HasSubstr("pytorch_model.bin is not read (a pickle file runs code of whoever wrote it)"));
  refill("");
  std::ofstream(folder / "model/model.safetensors.index.json")
      << R"({"weight_map": {"a": "model-00001-of-00002.safetensors"}})";
  EXPECT_THAT(refusal(), HasSubstr("model.safetensors.index.json: it names 1 shard that is not in the directory: "
                                   "model-00001-of-00002.safetensors"));
}

TEST(ValidateCommand, a_model_without_weights_is_a_note) {
  const auto outcome = validate("10_planted.yaml", "model.path=" + (source / "tests/models/letters").string());
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("has no weights on this machine; run will need config.json, the tokenizer and "
                                        "model.safetensors of a masked model"));
}

TEST(ValidateCommand, ratings_that_are_not_there_are_refused_with_the_rest) {
  const auto outcome = validate("10_planted.yaml", planted_causal + " statistics.human_ratings=nobody.tsv seed=x");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("statistics.human_ratings: nobody.tsv: the table cannot be read"));
  EXPECT_THAT(outcome.output, HasSubstr("command line:seed: "));
  EXPECT_THAT(outcome.output, HasSubstr("is a causal model"));
}

TEST(ValidateCommand, a_job_comes_through_a_pipe) {
  const auto job = (source / "jobs/00_smoke.yaml").string();
  const auto models = "model.path=" + (source / "tests/models/letters").string();
  const std::string configs = "STEREOSWEEP_CONFIGS=" + (source / "configs").string() + " ";
  for (const std::string name : {"-", "/dev/stdin"}) {
    const std::string command = "cat " + job + " | " + configs + program_path() + " validate " + name + " " + models;
    EXPECT_EQ(WEXITSTATUS(std::system((command + " > /dev/null").c_str())), 0) << command;
  }
}

TEST(ValidateCommand, keys_with_dashes_are_told_apart_from_options) {
  const auto job = (source / "jobs/00_smoke.yaml").string();
  const auto said = [&](const std::string& rest) { return run_program("validate " + job + " " + rest).output; };
  EXPECT_THAT(said("--dtype float16"), HasSubstr("Write model.dtype=float16."));
  EXPECT_THAT(said("--batch-tokens=9"), HasSubstr("Write execution.batch_tokens=9."));
  EXPECT_THAT(said("--helq"), HasSubstr("Did you mean 'help'?"));
  EXPECT_THAT(said("model.dtype float16"), HasSubstr("Write model.dtype=float16."));
}

TEST(ValidateCommand, names_what_a_contexts_job_will_miss) {
  const std::string job = (source / "jobs/60_ceat.yaml").string();
  const auto outcome = run_program("validate " + job + " corpus.files='[/no/such/corpus.txt, /]'");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("ceat: 6 WEAT tests and 0 WEFAT tests of 237 words"));
  EXPECT_THAT(outcome.output, HasSubstr("note: the corpus '/no/such/corpus.txt' is not on this machine"));
  EXPECT_THAT(outcome.output, ::testing::Not(HasSubstr("corpus '/'")));
}

TEST(ValidateCommand, names_targets_that_are_attributes) {
  const auto outcome =
      run_program("validate " + (source / "jobs/60_ceat.yaml").string() +
                  " 'axes.tests=[{label: T, x: [rose, war], y: [ant, love], a: [love, joy], b: [war]}]'");
  EXPECT_THAT(outcome.output, HasSubstr("note: the test 'T' has targets that are attributes as well: war, love"));
}

TEST(ValidateCommand, a_file_of_vectors_needs_no_model) {
  const testing::TemporaryDirectory folder;
  std::ofstream(folder / "job.yaml")
      << "schema: stereosweep/1\nname: static\nprobe: contexts\nvectors: {file: none.txt}\n"
         "axes: {tests: [{label: T, x: [a], a: [b, c], b: [d]}]}\n";
  const auto outcome = run_program("validate " + (folder / "job.yaml").string());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("static: 0 WEAT tests and 1 WEFAT test of 4 words"));
  EXPECT_THAT(outcome.output, HasSubstr("note: the file of vectors 'none.txt' is not on this machine"));
  EXPECT_THAT(outcome.output, ::testing::Not(HasSubstr("the model")));
}

}  // namespace
}  // namespace stereosweep::app
