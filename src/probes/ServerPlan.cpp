#include <algorithm>
#include <limits>
#include <ostream>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "probes/PlanText.hpp"

namespace stereosweep::probes {
namespace {

constexpr std::uint64_t max_contexts_counted = 2000;
std::uint64_t tokens_of(const std::string& text) { return text.size() / letters_per_token + 1; }

struct ServerWork : PlanSample {
  std::uint64_t requests = 0;
  std::uint64_t input = 0;   ///< tokens, about
  std::uint64_t output = 0;  ///< tokens, at most
};

/// Counts a query, and answers it with a text as long as may be, which later questions then hold.
query::Answer count(const query::Query& asked, ServerWork& work) {
  if (const auto* next = std::get_if<query::Continue>(&asked)) {
    query::ContinueAnswer answer;
    for (const auto& continuation : next->continuations) {
      ++work.requests;
      work.input += tokens_of(next->prompt + continuation);
      ++work.output;
      answer.logprob.push_back({-1.0});
    }
    return answer;
  }
  const auto& generate = std::get<query::Generate>(asked);
  const auto most = static_cast<std::uint64_t>(generate.max_new_tokens);
  ++work.requests;
  work.input += tokens_of(generate.prompt);
  work.output += most;
  query::GenerateAnswer answer;
  for (std::uint64_t i = 0; i < most; ++i) {
    answer.text += "word";
  }
  return answer;
}

void count_block(const Probe& probe, const sweep::Block& block, ServerWork& work) {
  work.contexts_read += block.num_contexts;
  Transcript transcript;
  for (std::optional<Round> round = probe.first(block); round; round = probe.next(block, transcript)) {
    transcript.answers.push_back(base::mapped(round->queries, [&](const auto& asked) { return count(asked, work); }));
    transcript.rounds.push_back(std::move(*round));
  }
}

void print_questions(std::ostream& out, const Probe& probe, std::uint64_t contexts) {
  const auto& blocks = probe.blocks();
  for (std::uint64_t index = 0; index < blocks.num_blocks() && contexts > 0; ++index) {
    auto one = blocks.block(index);
    const auto end = one.first_context + std::min(one.num_contexts, contexts);
    contexts -= end - one.first_context;
    for (one.num_contexts = 1; one.first_context < end; ++one.first_context) {
      for (const auto& asked : probe.first(one).queries) {
        const auto* generate = std::get_if<query::Generate>(&asked);
        out << blocks.context(one, 0) << '\t'
            << base::json_quote(generate != nullptr ? generate->prompt : std::get<query::Continue>(asked).prompt)
            << '\n';
      }
    }
  }
}

}  // namespace

void print_server_plan(std::ostream& out, const PlanRequest& request) {
  const auto& job = request.job;
  const auto& server = *job.model.server;
  const auto& kind = kind_of(job);
  const auto probe = kind.make_probe(job, nullptr);
  ServerWork work;
  work.num_contexts = probe->blocks().num_contexts();
  for (const auto& block : sweep::sample_blocks(probe->blocks(), max_contexts_counted)) {
    count_block(*probe, block, work);
  }
  out << job.name << ": " << kind.name() << " on " << job.model.shown() << '\n';
  plan_line(out, "product") << kind.summary(job) << '\n';
  work.print_note(out);
  plan_line(out, "server") << (server.interface == sweep::Server::Interface::chat
                                   ? "conversations, written by the server's chat template; the job's own is not used"
                                   : "texts as they are printed by --show-prompts")
                           << ", " << server.requests.in_flight << " requests of each rank at a time\n";
  plan_line(out, "requests") << work.sum(work.requests, "request") << ", about " << work.sum(work.input, "token")
                             << " of prompts (at " << letters_per_token << " letters a token), at most "
                             << work.sum(work.output, "token") << " of answers\n";
  if (server.price.input > 0 || server.price.output > 0) {
    const auto price =
        (server.price.input * work.whole(work.input) + server.price.output * work.whole(work.output)) / 1e6;
    plan_line(out, "price") << "at most about " << format_number("%.2f", price) << ", at model.price\n";
  }
  print_blocks(out, job, probe->blocks(), request.ranks);
  print_output(out, output_bytes(probe->schema(), work.num_contexts, letters_per_token * work.whole(work.output)));
  plan_line(out, "time") << "not estimated: it is the server's\n";
  print_omissions(out, kind.omissions(job), request.limit.value_or(default_plan_limit));
  if (request.prompts == PlanRequest::Prompts::printed) {
    out << '\n';
    print_questions(out, *probe, request.limit.value_or(std::numeric_limits<std::uint64_t>::max()));
  }
}

}  // namespace stereosweep::probes
