#include "probes/PlanText.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <ostream>
#include <unordered_set>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "chat/TemplateSource.hpp"
#include "chat/Writing.hpp"
#include "config/JobLoader.hpp"
#include "engine/QueryInput.hpp"
#include "hdf5/Handle.hpp"
#include "model/causal/CausalSize.hpp"
#include "model/families/Families.hpp"

namespace stereosweep::probes {
namespace {

using base::with_thousands;

/// Sums over the blocks that were read.
struct CausalAudit : PlanSample {
  std::uint64_t distinct_queries = 0;  ///< inside their blocks
  std::uint64_t continuations = 0;
  std::uint64_t samples = 0;        ///< texts to generate
  std::uint64_t sample_tokens = 0;  ///< of their prompts
  std::uint64_t new_tokens = 0;     ///< that they may have at most, all together
  std::uint64_t tokens = 0;         ///< of the continuations' inputs, each shared beginning once
  std::uint64_t naive_tokens = 0;   ///< of prompts with their continuations
  std::uint64_t longest = 0;        ///< tokens of the longest input
  std::uint64_t too_long = 0;
  std::uint64_t prompt_bytes = 0;
  std::map<std::string, std::set<std::string>> splits;  ///< continuation -> its pieces, where it has several
  std::map<std::string, std::set<std::string>> joins;   ///< continuation -> prompt whose last token changes before it
  std::map<std::string, std::set<std::string>> errors;  ///< why a query has no answer -> prompt
  std::unordered_set<std::string> pieces_read;          ///< continuations, each with the end of its prompt
};

bool read_error(const query::Answer& answer, const std::string& prompt, CausalAudit& audit) {
  const auto* error = std::get_if<query::QueryError>(&answer);
  if (error != nullptr) {
    audit.too_long += error->fault == query::QueryFault::too_long ? 1 : 0;
    audit.errors[error->message].insert(prompt);
  }
  return error != nullptr;
}

/// Each continuation once after each end of a prompt: what stands further before it moves no border.
void read_pieces(const query::Continue& asked, const tokenizer::Tokenizer& tokenizer, CausalAudit& audit) {
  constexpr std::size_t context_bytes = 24;
  const auto end = asked.prompt.substr(asked.prompt.size() - std::min(context_bytes, asked.prompt.size()));
  const engine::ContinuationBorder border(asked.prompt, tokenizer, asked.framing);
  const auto special = engine::special_tokens_of(asked.framing);
  const bool ends_specially = special == tokenizer::SpecialTokens::add && tokenizer.last_token().has_value();
  const auto own = tokenizer.encode(asked.prompt, special).ids.size();
  for (const auto& continuation : asked.continuations) {
    if (!audit.pieces_read.insert(end + '\n' + continuation).second) {
      continue;
    }
    const auto joint = border.join(continuation);
    if (const auto ids = std::span(joint.ids).subspan(joint.begin); ids.size() > 1) {
      audit.splits[continuation].insert(spelled(tokenizer, ids));
    }
    if (joint.begin + (ends_specially ? 1 : 0) < own) {
      audit.joins[continuation].insert(asked.prompt);
    }
  }
}

void read_block(const Probe& probe, const sweep::Block& block, const PlanRequest& request,
                const model::ModelShape& shape, CausalAudit& audit) {
  audit.contexts_read += block.num_contexts;
  const auto queries = probe.first(block).queries;
  const auto plan = engine::plan_causal(queries, *request.tokenizer, shape);
  const auto cost = engine::count_causal(plan, request.job.execution.batch_tokens);
  audit.tokens += cost.tokens;
  audit.naive_tokens += cost.naive_tokens;
  std::unordered_set<std::string> distinct;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (const auto* sample = std::get_if<query::Generate>(&queries[i])) {
      ++audit.samples;
      audit.new_tokens += static_cast<std::uint64_t>(sample->max_new_tokens);
      read_error(plan.answers[i], sample->prompt, audit);
      continue;
    }
    const auto& asked = std::get<query::Continue>(queries[i]);
    distinct.insert(asked.prompt + '\n' + base::join(asked.continuations, "\n"));
    audit.continuations += asked.continuations.size();
    audit.prompt_bytes += asked.prompt.size();
    if (!read_error(plan.answers[i], asked.prompt, audit)) {
      read_pieces(asked, *request.tokenizer, audit);
    }
  }
  for (const auto& opening : plan.openings) {
    audit.sample_tokens += opening.ids.size();
  }
  for (const auto& sequence : plan.sequences) {
    audit.longest = std::max<std::uint64_t>(audit.longest, sequence.ids.size() + 1);
  }
  audit.distinct_queries += distinct.size();
}

/// Adds the control tokens in the texts of a tree, which may be null, each with its text.
void find_control_tokens(const config::Node* node, const chat::ChatTemplate& chat,
                         std::map<std::string, std::set<std::string>>& found) {
  if (node != nullptr) {
    for (const auto& token : chat::control_tokens_in(chat, node->value)) {
      found[token].insert(base::json_quote(base::excerpt(node->value, 60)));
    }
    for (const auto& child : node->children) {
      find_control_tokens(&child, chat, found);
    }
  }
}

void print_work(std::ostream& out, const CausalAudit& audit,
                const std::optional<model::CausalSpecification>& specification) {
  plan_line(out, "queries") << audit.sum(audit.distinct_queries, "distinct prompt") << " with "
                            << audit.sum(audit.continuations, "continuation") << "\n";
  const double ratio =
      audit.tokens == 0 ? 0 : static_cast<double>(audit.naive_tokens) / static_cast<double>(audit.tokens);
  plan_line(out, "tokens") << audit.sum(audit.tokens, "token") << " run, each shared beginning once; "
                           << audit.sum(audit.naive_tokens, "token") << " in prompts with their continuations ("
                           << format_number("%.2f", ratio) << " to 1); longest " << audit.longest;
  if (specification) {
    out << " of " << specification->max_tokens;
  }
  out << '\n';
  if (audit.samples > 0) {
    plan_line(out, "answers") << audit.sum(audit.samples, "sampled answer") << " of at most "
                              << audit.sum(audit.new_tokens, "token") << " together, after prompts of "
                              << audit.sum(audit.sample_tokens, "token") << " (shared beginnings run once)\n";
  }
  if (audit.too_long > 0) {
    plan_line(out, "too long") << audit.sum(audit.too_long, "query") << " beyond the model's positions (not scored)\n";
  }
}

void print_memory(std::ostream& out, const PlanRequest& request,
                  const std::optional<model::CausalSpecification>& specification) {
  if (!specification) {
    plan_line(out, "memory") << "no model: the fake engine\n";
    return;
  }
  const auto& load = request.load.value();
  const auto memory = model::memory_of(*specification, query::size_of(request.job.model.dtype), load, 1);
  plan_line(out, "memory") << "about " << megabytes(static_cast<double>(memory.total())) << " per rank: weights "
                           << megabytes(static_cast<double>(memory.weights)) << ", a batch "
                           << megabytes(static_cast<double>(memory.activations));
  if (memory.kept > 0) {
    out << ", keys and values of " << with_thousands(static_cast<std::uint64_t>(load.kept.all))
        << " rows of sampled answers " << megabytes(static_cast<double>(memory.kept));
  }
  out << "; libraries not counted\n";
}

/// Of the job's model; nothing for a fake engine without a causal one. Throws InputError.
std::optional<model::CausalSpecification> specification_of(const PlanRequest& request) {
  const bool is_fake = request.job.execution.engine == query::EngineKind::fake;
  if (is_fake && (request.files.find("config.json") == nullptr || !model::is_causal(request.files))) {
    return std::nullopt;
  }
  base::refuse_if(!model::is_causal(request.files), "'" + request.job.model.path + "' is no causal language model",
                  "the probe '" + request.job.probe_name() + "' asks what follows a prompt");
  return model::read_causal_specification(request.files);
}

/// Blocks are read one by one, as they run: all of them, or a sample beyond `max_contexts_planned`.
CausalAudit audit_causal(const Probe& probe, const PlanRequest& request,
                         const std::optional<model::CausalSpecification>& specification) {
  constexpr auto boundless = std::numeric_limits<std::int64_t>::max();  // a fake engine without a model
  const auto shape =
      specification ? model::shape_of(*specification) : model::ModelShape{1, 0, boundless, boundless, boundless, true};
  CausalAudit audit;
  audit.num_contexts = probe.blocks().num_contexts();
  for (const auto& block : sweep::sample_blocks(probe.blocks(), max_contexts_planned)) {
    read_block(probe, block, request, shape, audit);
  }
  return audit;
}

// Of a job that asks a server.

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

std::string PlanSample::sum(std::uint64_t value, std::string_view noun) const {
  const auto all = is_exact() ? value : static_cast<std::uint64_t>(whole(value));
  return (is_exact() ? "" : "about ") + (noun.empty() ? base::with_thousands(all) : base::counted(all, noun));
}

void PlanSample::print_note(std::ostream& out) const {
  if (!is_exact()) {
    plan_line(out, "note") << "what follows as 'about' was counted in " << base::with_thousands(contexts_read)
                           << " contexts of blocks spread over the product\n";
  }
}

std::string format_number(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string megabytes(double bytes) {
  return bytes < 1e5 ? format_number("%.0f kB", bytes / 1e3)
                     : format_number(bytes < 1e7 ? "%.1f MB" : "%.0f MB", bytes / 1e6);
}

std::ostream& plan_line(std::ostream& out, const std::string& name) {
  return out << name << std::string(11 - std::min<std::size_t>(10, name.size()), ' ');
}

void print_blocks(std::ostream& out, const sweep::Job& job, const sweep::BlockPlan& blocks, int num_ranks) {
  const auto ranks = static_cast<std::uint64_t>(num_ranks);
  plan_line(out, "blocks") << base::with_thousands(blocks.num_blocks()) << " of at most "
                           << base::counted(static_cast<std::uint64_t>(job.execution.contexts_per_block), "context")
                           << "; " << base::with_thousands((blocks.num_blocks() + ranks - 1) / ranks) << " per rank on "
                           << base::counted(ranks, "rank");
  if (blocks.num_blocks() < ranks) {
    out << "; " << base::counted(ranks - blocks.num_blocks(), "rank") << " will have nothing to do";
  }
  out << '\n';
}

double output_bytes(const results::RawSchema& schema, std::uint64_t num_contexts, double text_bytes) {
  double per_context = 0;
  for (const auto& cube : schema.cubes) {
    const auto size = static_cast<double>(hdf5::element_size(cube.type));
    per_context += size * static_cast<double>(schema.values_per_context(cube));
  }
  return per_context * static_cast<double>(num_contexts) + text_bytes;
}

void print_output(std::ostream& out, double bytes, const std::string& more) {
  plan_line(out, "output") << "about " << megabytes(bytes) << " in the journal, as much in HDF5 before compression"
                           << more << '\n';
}

std::string summary_end(const std::vector<sweep::Omission>& omissions, const std::vector<sweep::Group>& groups) {
  std::string text;
  if (!omissions.empty()) {
    text += "; groups and intersections left out: " + with_thousands(omissions.size()) + " (see plan)";
  }
  for (const auto& sentence : sweep::groups_with_equal_words(groups)) {
    text += "\n  note: " + sentence;
  }
  return text;
}

std::string spelled(const tokenizer::Tokenizer& tokenizer, std::span<const query::TokenId> ids) {
  const auto text_of = [&](query::TokenId id) { return std::string(tokenizer.token_of(id).value_or("?")); };
  return base::join(base::mapped(ids, text_of), " ");
}

void print_lines(std::ostream& out, const std::string& head, const std::vector<std::string>& lines,
                 std::uint64_t limit) {
  if (lines.empty()) {
    return;
  }
  const auto shown = std::min<std::uint64_t>(limit, lines.size());
  out << head << '\n';
  for (std::uint64_t i = 0; i < shown; ++i) {
    out << "  " << lines[i] << '\n';
  }
  if (shown < lines.size()) {
    out << "  ... " << lines.size() - shown << " more (--limit)\n";
  }
}

void print_list(std::ostream& out, const std::string& title, const std::map<std::string, std::set<std::string>>& items,
                const std::string& what, std::uint64_t limit) {
  const auto line_of = [&](const auto& item) {
    const auto& [word, details] = item;
    return word + "  (" + what + ": " + *details.begin() +
           (details.size() > 1 ? "; and " + base::counted(details.size() - 1, "other way") + ")" : ")");
  };
  print_lines(out, title + ": " + std::to_string(items.size()), base::mapped(items, line_of), limit);
}

void print_omissions(std::ostream& out, const std::vector<sweep::Omission>& omissions, std::uint64_t limit) {
  const auto line_of = [](const sweep::Omission& one) {
    return one.first + (one.second.empty() ? "" : " + " + one.second) + ": " + one.reason;
  };
  print_lines(out, "groups and intersections left out: " + with_thousands(omissions.size()),
              base::mapped(omissions, line_of), limit);
}

void print_chat(std::ostream& out, const PlanRequest& request, std::string_view without) {
  const auto& job = request.job;
  plan_line(out, "chat");
  if (job.model.chat) {
    out << job.model.chat->label << "; control tokens are written in the prompt, none is added\n";
    if (const auto& origin = job.model.chat->origin) {
      plan_line(out, "") << "proof " << origin->proof << "; switches " << origin->switches
                         << (origin->date.empty() ? "" : "; date " + origin->date) << '\n';
    }
    if (const auto& thought = job.model.chat->thought) {
      plan_line(out, "thoughts") << "what stands before " << base::json_quote(thought->closing)
                                 << " is kept apart, and is no answer (sampling.max_thought_tokens)\n";
    }
    if (const auto& guards = job.model.chat->guards; !guards.empty()) {
      plan_line(out, "guards") << base::excerpt(base::join(base::mapped(guards, base::json_quote), ", "), 80)
                               << ": an answer with one ends its conversation\n";
    }
    if (job.model.system != "default") {
      plan_line(out, "system") << base::json_quote(base::excerpt(job.model.system, 60)) << '\n';
    }
    const auto dump = config::dump_job(job, config::Extent::everything);
    std::map<std::string, std::set<std::string>> found;
    for (const auto* key : {"axes", "frame"}) {
      find_control_tokens(dump.find(key), *job.model.chat, found);
    }
    print_list(out, "WARNING control tokens inside the job's own texts (they act as control tokens)", found, "in",
               request.limit.value_or(default_plan_limit));
    return;
  }
  out << "none: " << without << '\n';
  if (chat::find_template(job.model.location(), "")) {
    plan_line(out, "note") << "the checkpoint has a chat template, and the job says none\n";
  }
}

void print_causal_plan(std::ostream& out, const CausalPlan& plan, const Probe& probe, const PlanRequest& request) {
  const auto specification = specification_of(request);
  const auto limit = request.limit.value_or(default_plan_limit);
  out << request.job.name << ": " << plan.title << ' ' << request.job.model.shown() << '\n';
  plan_line(out, "product") << plan.product << '\n';
  plan.print_own_lines(specification);
  const auto audit = audit_causal(probe, request, specification);
  audit.print_note(out);
  print_work(out, audit, specification);
  print_blocks(out, request.job, probe.blocks(), request.ranks);
  print_memory(out, request, specification);
  const auto new_tokens = audit.whole(audit.new_tokens) + plan.later_tokens;
  const auto text_bytes = audit.whole(audit.prompt_bytes) + letters_per_token * new_tokens;
  print_output(out, output_bytes(probe.schema(), audit.num_contexts, text_bytes));
  print_list(out, "continuations of several tokens", audit.splits, "pieces", limit);
  print_list(out, "continuations that change the prompt's last token", audit.joins, "after", limit);
  print_list(out, "prompts without an answer", audit.errors, "e.g.", limit);
  request.print_time(out, probe);
  if (plan.print_own_lists) {
    plan.print_own_lists(limit);
  }
  print_omissions(out, kind_of(request.job).omissions(request.job), limit);
  if (request.prompts == PlanRequest::Prompts::printed) {
    out << '\n';
    plan.print_prompts(request.limit.value_or(std::numeric_limits<std::uint64_t>::max()));
  }
}

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
