// Conversations of several turns, as an interview asks them: calls of one session, which keep keys and values, against
// calls of their own, in turn. --model DIR, [--texts 8], [--openings 2] (so many different first prompts, as groups
// have them), [--turns 4], [--prompt-words 150], [--new-tokens 32], [--repeat 3], [--dtype], [--threads],
// [--batch-tokens]. Prints the processor seconds of both, their ratio, the share of equal texts.
#include <functional>

#include "bench/ItemBench.hpp"

namespace {

using namespace stereosweep;

struct Outcome {
  double seconds = 0;  ///< of the processor
  std::uint64_t tokens = 0;
  std::vector<std::string> texts;
};

using Plan = std::function<std::unique_ptr<query::Call>(std::span<const query::Query>)>;

Outcome talk(const bench::Options& options, const Plan& plan) {
  const auto num_texts = static_cast<std::size_t>(bench::number_option(options, "--texts", 8));
  const auto openings = static_cast<std::size_t>(bench::number_option(options, "--openings", 2));
  const auto words = bench::number_option(options, "--prompt-words", 150);
  const auto new_tokens = static_cast<std::int32_t>(bench::number_option(options, "--new-tokens", 32));
  std::string opening;
  for (std::int64_t word = 0; word < words; ++word) {
    opening += " " + std::vector<std::string>{"many", "people", "think", "of", "the", "nurse"}[word * word % 6];
  }
  std::vector<std::string> prompts;
  for (std::size_t i = 0; i < num_texts; ++i) {
    prompts.push_back("Question " + std::to_string(i % openings) + "." + opening);
  }
  Outcome outcome;
  const auto start = std::clock();
  for (std::int64_t turn = 0; turn < bench::number_option(options, "--turns", 4); ++turn) {
    std::vector<query::Query> queries;
    for (std::size_t i = 0; i < num_texts; ++i) {
      queries.emplace_back(query::Generate{prompts[i], new_tokens, 1, 0, 1, i, {}, query::Framing::tokenizer});
    }
    const auto call = plan(queries);
    call->run();
    const auto answers = call->read();
    outcome.tokens += call->cost().distinct_tokens;
    for (std::size_t i = 0; i < num_texts; ++i) {
      const auto& text = std::get<query::GenerateAnswer>(answers[i]).text;
      outcome.texts.push_back(text);
      prompts[i] += text + "\nAnd what would other people say of them? Give three words.\n";
    }
  }
  outcome.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return outcome;
}

void run(const bench::Options& options) {
  const auto files = base::read_checkpoint_files(options.at("--model"), base::CheckpointPart::all_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  const auto engine = engine::make_engine(bench::settings_of(options, 1024), files, tokenizer);
  const Plan apart = [&](std::span<const query::Query> queries) { return engine->plan(queries); };
  Outcome best;
  Outcome best_apart;
  best.seconds = best_apart.seconds = std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < bench::number_option(options, "--repeat", 3); ++i) {
    const auto keep_faster = [](Outcome& kept, Outcome made) {
      if (made.seconds < kept.seconds) {
        kept = std::move(made);
      }
    };
    const auto session = engine->begin_session();
    keep_faster(best, talk(options, [&](std::span<const query::Query> queries) { return session->plan(queries); }));
    keep_faster(best_apart, talk(options, apart));
  }
  std::size_t equal = 0;
  for (std::size_t i = 0; i < best.texts.size(); ++i) {
    equal += best.texts[i] == best_apart.texts[i] ? 1 : 0;
  }
  std::cout << base::Json({{"session_s", best.seconds},
                           {"apart_s", best_apart.seconds},
                           {"ratio", best_apart.seconds / best.seconds},
                           {"session_tokens", best.tokens},
                           {"apart_tokens", best_apart.tokens},
                           {"equal_texts", static_cast<double>(equal) / static_cast<double>(best.texts.size())}})
                   .dump()
            << '\n';
}

}  // namespace

int main(int argc, char** argv) { return bench::run_main("bench_turns", {argv, static_cast<std::size_t>(argc)}, run); }
