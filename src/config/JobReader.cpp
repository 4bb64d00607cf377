#include "config/JobReader.hpp"

#include <unordered_map>
#include <unordered_set>

#include "base/Text.hpp"
#include "config/AxesReader.hpp"
#include "config/Fields.hpp"

namespace stereosweep::config {
namespace {

constexpr std::uint64_t max_subjects = 1'000'000;
constexpr std::int64_t max_cells_limit = std::int64_t{1} << 62;

std::string read_name(const Node& node, base::Problems& problems) {
  const auto name = read_line(node, "name", problems, 150).value_or("job");
  constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  if (name.find_first_not_of(allowed) != std::string::npos || name.front() == '.' || name.front() == '-') {
    problems.add(node.place("name"), "'" + name + "' is no name of a job",
                 "it names a folder: letters, digits, '.', '_', '-', not starting with '.' or '-'");
  }
  return name;
}

domain::ModelSpec read_model(const Node& node, Pieces& pieces, base::Problems& problems) {
  domain::ModelSpec model;
  if (node.kind == Node::Kind::scalar) {
    model.path = pieces.resolve_path(read_line(node, "model", problems, 4000).value_or(""));
    return model;
  }
  Fields fields(node, "model", problems);
  if (const Node* path = fields.required("path")) {
    model.path = pieces.resolve_path(read_line(*path, "model.path", problems, 4000).value_or(""));
  }
  if (const Node* dtype = fields.optional("dtype")) {
    const std::vector<std::string> names = {"float32", "bfloat16"};
    model.dtype =
        read_choice(*dtype, "model.dtype", problems, names) == 1 ? domain::Dtype::bfloat16 : domain::Dtype::float32;
  }
  fields.finish();
  return model;
}

domain::Measures read_measures(const Node& node, base::Problems& problems) {
  domain::Measures measures{false, false, false};
  const std::vector<std::string> names = {"ilps", "ilps_star", "set"};
  if (!expect_kind(node, Node::Kind::list, "measures", problems, Emptiness::refused)) {
    return measures;
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const std::string key = "measures[" + std::to_string(i) + "]";
    const auto index = read_choice(node.children[i], key, problems, names);
    if (!index) {
      continue;
    }
    bool& measure = *index == 0 ? measures.ilps : *index == 1 ? measures.ilps_star : measures.set;
    if (measure) {
      problems.add(node.children[i].place(key), "'" + names[*index] + "' stands twice", "each measure counts once");
    }
    measure = true;
  }
  return measures;
}

void read_priors(const Node& node, base::Problems& problems, domain::Priors& priors) {
  Fields fields(node, "priors", problems);
  if (const Node* word = fields.optional("word")) {
    if (word->kind == Node::Kind::list) {
      if (const auto two = read_two(*word, "priors.word", problems)) {
        priors.word_singular = two->first;
        priors.word_plural = two->second;
      }
    } else {
      priors.word = read_boolean(*word, "priors.word", problems).value_or(true);
    }
  }
  fields.boolean("mask", priors.mask);
  fields.finish();
}

domain::Execution read_execution(const Node& node, base::Problems& problems) {
  domain::Execution execution;
  Fields fields(node, "execution", problems);
  if (const Node* engine = fields.optional("engine")) {
    const std::vector<std::string> names = {"torch", "fake"};
    execution.engine = read_choice(*engine, "execution.engine", problems, names) == 1 ? domain::EngineKind::fake
                                                                                      : domain::EngineKind::torch;
  }
  if (const Node* device = fields.optional("device")) {
    const std::vector<std::string> names = {"auto", "cpu", "cuda"};
    execution.device =
        static_cast<domain::Device>(read_choice(*device, "execution.device", problems, names).value_or(0));
  }
  std::int64_t threads = execution.threads_per_rank;
  std::int64_t tensor_parallel = 1;
  fields.integer("threads_per_rank", threads, 1, 1024);
  fields.integer("batch_tokens", execution.batch_tokens, 1, 16'777'216);
  fields.integer("contexts_per_block", execution.contexts_per_block, 1, 1'000'000);
  fields.integer("max_cells", execution.max_cells, 1, max_cells_limit);
  fields.integer("tensor_parallel", tensor_parallel, 1, 1);  // masked models fit one device
  execution.threads_per_rank = static_cast<int>(threads);
  fields.finish();
  return execution;
}

void read_ratings(const Node& node, Pieces& pieces, base::Problems& problems, domain::Statistics& statistics) {
  const std::string key = "statistics.human_ratings";
  if (node.kind != Node::Kind::map) {
    statistics.human_ratings = pieces.resolve_path(read_line(node, key, problems, 4000).value_or(""));
    return;
  }
  Fields fields(node, key, problems);
  if (const Node* path = fields.required("path")) {
    statistics.human_ratings = pieces.resolve_path(read_line(*path, key + ".path", problems, 4000).value_or(""));
  }
  if (const Node* aliases = fields.optional("aliases")) {
    for (std::size_t i = 0;
         expect_kind(*aliases, Node::Kind::map, key + ".aliases", problems) && i < aliases->keys.size(); ++i) {
      const std::string entry_key = key + ".aliases." + aliases->keys[i].substr(0, 60);
      if (const auto label = read_line(aliases->children[i], entry_key, problems)) {
        statistics.rating_aliases.emplace_back(aliases->keys[i], *label);
      }
    }
  }
  fields.finish();
}

domain::Statistics read_statistics(const Node& node, Pieces& pieces, const domain::Axes& axes,
                                   base::Problems& problems) {
  domain::Statistics statistics;
  Fields fields(node, "statistics", problems);
  if (const Node* aggregate = fields.optional("word_aggregate")) {
    const std::vector<std::string> names = {"median", "mean"};
    statistics.word_aggregate = static_cast<domain::Statistics::Aggregate>(
        read_choice(*aggregate, "statistics.word_aggregate", problems, names).value_or(0));
  }
  if (const Node* ratings = fields.optional("human_ratings")) {
    read_ratings(*ratings, pieces, problems, statistics);
  }
  if (const Node* templates = fields.optional("templates")) {
    statistics.templates =
        read_lines(*templates, "statistics.templates", problems).value_or(std::vector<std::string>());
    std::vector<std::string> labels;
    for (const auto& sentence : axes.templates) {
      labels.push_back(sentence.label);
    }
    const std::unordered_set<std::string> known(labels.begin(), labels.end());
    for (const auto& label : statistics.templates) {
      if (!known.contains(label)) {
        problems.add(templates->place("statistics.templates"), "unknown template '" + label + "'",
                     "it is not on the axis templates", suggest(label, labels, problems));
      }
    }
  }
  fields.finish();
  return statistics;
}

/// Most subjects that the axes can have: priors, groups, and every order of every pair. Cannot overflow: at most
/// 10^5 groups, and each of the at most 10^7 crossings adds at most 10^10 / 4 pairs.
std::uint64_t count_subjects(const domain::Job& job) {
  std::unordered_map<std::string, std::uint64_t> sizes;
  for (const auto& group : job.axes.groups) {
    ++sizes[group.domain];
  }
  std::uint64_t pairs = job.axes.intersections.pairs.size();
  for (const auto& [first, second] : job.axes.intersections.domains) {
    pairs += sizes[first] * sizes[second];
  }
  return pairs * (job.axes.intersections.both_orders ? 2 : 1) + job.axes.groups.size() + 2;
}

void check_size(const Node& root, const domain::Job& job, base::Problems& problems) {
  const std::uint64_t num_subjects = count_subjects(job);
  std::uint64_t num_words = 0;  // a word of two poles counts twice, as in the result
  for (const auto& pair : job.axes.traits) {
    num_words += pair.left.words.size() + pair.right.words.size();
  }
  const Node* axes = root.find("axes");
  const base::Place place = axes == nullptr ? root.place("axes") : axes->place("axes");
  if (num_subjects > max_subjects) {
    problems.add(place, "up to " + base::with_thousands(num_subjects) + " groups and intersections",
                 "limit: " + base::with_thousands(max_subjects), "Cross fewer domains.");
  }
  std::uint64_t cells = num_subjects;
  bool overflow = false;
  for (const std::uint64_t length :
       {std::uint64_t{job.axes.templates.size()}, std::uint64_t{job.axes.rephrasings.size()}, num_words}) {
    overflow = overflow || __builtin_mul_overflow(cells, length, &cells);
  }
  if (overflow || cells > static_cast<std::uint64_t>(job.execution.max_cells)) {
    problems.add(place,
                 "the job has up to " + base::with_thousands(num_subjects) + " groups and intersections x " +
                     base::with_thousands(job.axes.templates.size()) + " templates x " +
                     base::with_thousands(job.axes.rephrasings.size()) + " rephrasings x " +
                     base::with_thousands(num_words) + " words" +
                     (overflow ? "" : " = " + base::with_thousands(cells) + " cells"),
                 "limit: " + base::with_thousands(static_cast<std::uint64_t>(job.execution.max_cells)),
                 "Shorten an axis, or raise execution.max_cells.");
  }
}

}  // namespace

domain::Job read_job(const Node& root, Pieces& pieces, base::Problems& problems) {
  domain::Job job;
  if (root.kind == Node::Kind::broken) {
    return job;
  }
  Fields fields(root, "", problems);
  if (const Node* schema = fields.required("schema")) {
    const std::vector<std::string> schemas = {"stereosweep/1"};
    read_choice(*schema, "schema", problems, schemas);
  }
  if (const Node* name = fields.required("name")) {
    job.name = read_name(*name, problems);
  }
  if (const Node* seed = fields.optional("seed")) {
    job.seed = read_seed(*seed, "seed", problems).value_or(0);
  }
  if (const Node* model = fields.required("model")) {
    job.model = read_model(*model, pieces, problems);
  }
  if (const Node* probe = fields.required("probe")) {
    const std::vector<std::string> probes = {"association"};
    read_choice(*probe, "probe", problems, probes);
    job.probe = "association";
  }
  if (const Node* axes = fields.required("axes")) {
    job.axes = read_axes(*axes, "axes", pieces, problems, job.priors);
  }
  if (const Node* measures = fields.optional("measures")) {
    job.measures = read_measures(*measures, problems);
  }
  if (const Node* priors = fields.optional("priors")) {
    read_priors(*priors, problems, job.priors);
  }
  if (const Node* execution = fields.optional("execution")) {
    job.execution = read_execution(*execution, problems);
  }
  if (const Node* statistics = fields.optional("statistics")) {
    job.statistics = read_statistics(*statistics, pieces, job.axes, problems);
  }
  if (const Node* sweep = fields.optional("sweep")) {  // the loader has taken it out of a job file
    problems.add(sweep->place("sweep"), "a resolved job has no sweep", "it is one job");
  }
  if (!job.priors.word) {  // the words say nothing then, and a dump does not keep them
    job.priors.word_singular = domain::Priors().word_singular;
    job.priors.word_plural = domain::Priors().word_plural;
  }
  fields.finish();
  check_size(root, job, problems);
  return job;
}

}  // namespace stereosweep::config
