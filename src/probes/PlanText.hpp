// Lines that the plans of all probes print.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/causal/TokenTreePlan.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "probes/Probe.hpp"
#include "probes/ProbeKind.hpp"
#include "results/RawBlock.hpp"
#include "sweep/Job.hpp"
#include "sweep/Product.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes {

/// Lines of a list, where the request says nothing.
constexpr std::uint64_t default_plan_limit = 40;
/// Of English text in today's vocabularies; what a server counts is known to the server alone.
constexpr std::uint64_t letters_per_token = 4;

/// Contexts that a plan has looked at; `whole` carries a sum over them to the whole product.
struct PlanSample {
  std::uint64_t num_contexts = 0;   ///< of the product
  std::uint64_t contexts_read = 0;  ///< all, or blocks spread over the product
  bool is_exact() const { return contexts_read == num_contexts; }
  double scale() const { return contexts_read == 0 ? 0 : double(num_contexts) / double(contexts_read); }
  double whole(std::uint64_t value) const { return static_cast<double>(value) * scale(); }
  /// "1,234", "1,234 tokens"; "about ..." where not all contexts were read.
  std::string sum(std::uint64_t value, std::string_view noun = "") const;
  /// Says so; nothing where all were read.
  void print_note(std::ostream& out) const;
};

std::string format_number(const char* pattern, double value);
/// "12 kB", "3.4 MB"
std::string megabytes(double bytes);
/// The head of a line, padded: "blocks     ".
std::ostream& plan_line(std::ostream& out, const std::string& name);
/// How many blocks there are and how many each rank gets.
void print_blocks(std::ostream& out, const sweep::Job& job, const sweep::BlockPlan& blocks, int ranks);
/// Size of the journal: the cubes of all contexts, and `text_bytes` of texts.
double output_bytes(const results::RawSchema& schema, std::uint64_t num_contexts, double text_bytes);
/// That size; `more`: what is said behind it.
void print_output(std::ostream& out, double bytes, const std::string& more = "");
/// What the summary of a job ends with: how many groups and intersections are left out, and whose words are the same.
std::string summary_end(const std::vector<sweep::Omission>& omissions, const std::vector<sweep::Group>& groups);
/// The model's tokens, blanks between them.
std::string spelled(const tokenizer::Tokenizer& tokenizer, std::span<const query::TokenId> ids);
/// A head and the lines below it, at most `limit`, and how many more there are; nothing where there are none.
void print_lines(std::ostream& out, const std::string& head, const std::vector<std::string>& lines,
                 std::uint64_t limit);
/// Items with one of their details each, at most `limit` of them; nothing where there are none.
void print_list(std::ostream& out, const std::string& title, const std::map<std::string, std::set<std::string>>& items,
                const std::string& what, std::uint64_t limit);
/// Groups and pairs of groups that are not measured, each with its reason, at most `limit`; nothing where there are
/// none.
void print_omissions(std::ostream& out, const std::vector<sweep::Omission>& omissions, std::uint64_t limit);

// What asking a causal model will cost, for every probe that asks `continue` and `generate`: counted from the queries,
// without a model.

/// The line "chat", and control tokens of the chat template in the job's own texts; `without` is what it says of a job
/// without a chat template, whose checkpoint may have one.
void print_chat(std::ostream& out, const PlanRequest& request, std::string_view without);

/// What the plan of a probe that asks a causal model says beside the cost.
struct CausalPlan {
  std::string title;    ///< between the names of job and model: "interview of"
  std::string product;  ///< the probe's summary
  std::function<void(const std::optional<model::CausalSpecification>&)> print_own_lines;  ///< before the cost
  std::function<void(std::uint64_t limit)> print_prompts;              ///< of at most so many contexts
  std::function<void(std::uint64_t limit)> print_own_lists = nullptr;  ///< behind the cost, of at most so many lines
  double later_tokens = 0;  ///< of answers to questions that follow an answer, at most
};

/// The whole plan. Throws InputError where the model is no causal one.
void print_causal_plan(std::ostream& out, const CausalPlan& plan, const Probe& probe, const PlanRequest& request);

// What a job that asks a server will cost: requests and tokens, counted from its questions.

/// Without files, tokenizer and load. Throws InputError where the job cannot be asked.
void print_server_plan(std::ostream& out, const PlanRequest& request);

}  // namespace stereosweep::probes
