#include <filesystem>
#include <string>
#include <vector>

#include "base/files/HubCache.hpp"
#include "config/Chat.hpp"
#include "config/JobLoader.hpp"
#include "config/ProbeFormat.hpp"
#include "config/axes/Pieces.hpp"
#include "config/axes/Tables.hpp"
#include "config/statistics/ComparisonReader.hpp"
#include "config/yaml/Fields.hpp"

namespace stereosweep::config {
namespace {

constexpr std::int64_t max_cells_limit = std::int64_t{1} << 62;

std::string read_name(const Node& node, base::Problems& problems) {
  auto name = read_line(node, "name", problems, 150).value_or("job");
  constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  if (name.find_first_not_of(allowed) != std::string::npos || name.front() == '.' || name.front() == '-') {
    problems.add(node.place("name"), "'" + name + "' is no name of a job",
                 "it names a folder: letters, digits, '.', '_', '-', not starting with '.' or '-'");
  }
  return name;
}

/// "" for a directory, and where the cache of this machine does not hold the name.
std::string cached_commit(const std::string& path) {
  std::error_code ignored;
  const auto wanted = base::parse_hub_name(path);
  if (!wanted || std::filesystem::is_directory(path, ignored)) {
    return "";
  }
  const auto found = base::find_in_hub_cache(*wanted);
  return found ? found->commit : "";
}

/// What a resolved job says of a name: the commit that it stood for.
std::string read_revision(const Node& node, const std::string& path, base::Problems& problems) {
  const auto text = read_line(node, "model.revision", problems, 100).value_or("");
  if (!base::is_commit(text)) {
    problems.add(node.place("model.revision"), "'" + text + "' is no commit", "40 hexadecimal digits are needed",
                 "Write a branch or tag behind the name: path: ORG/NAME@" + (text.empty() ? "REVISION" : text));
    return "";
  }
  if (!path.empty() && !base::parse_hub_name(path)) {
    problems.add(node.place("model.revision"), "a revision of '" + path + "'",
                 "only a name on the hub, such as org/name, has revisions", "Leave it out.");
    return "";
  }
  return text;
}

sweep::ModelSpec read_model(const Node& node, Pieces& pieces, base::Problems& problems) {
  sweep::ModelSpec model;
  const auto read_path = [&](const Node& path, const std::string& key) {
    model.path = pieces.resolve_path(read_line(path, key, problems, 4000).value_or(""));
    model.revision = pieces.inline_only() ? "" : cached_commit(model.path);
  };
  if (node.kind == Node::Kind::scalar) {
    read_path(node, "model");
    return model;
  }
  Fields fields(node, "model", problems);
  if (const Node* path = fields.required("path")) {
    read_path(*path, "model.path");
  }
  if (const Node* revision = fields.optional("revision")) {
    model.revision = read_revision(*revision, model.path, problems);
  }
  fields.choice("dtype", model.dtype, query::dtype_names);
  fields.optional("chat");  // read when the probe is known
  fields.finish();
  return model;
}

void read_chat(const Node& node, const ProbeFormat& format, Pieces& pieces, base::Problems& problems,
               sweep::ModelSpec& model) {
  const Node* said = node.kind == Node::Kind::map ? node.find("chat") : nullptr;
  if (format.defaults().chat == ChatUse::refused && said != nullptr) {
    problems.add(said->place("model.chat"), "the probe '" + std::string(format.name()) + "' takes no chat template",
                 "its prompts are sentences, not conversations");
  } else if (said != nullptr) {
    model.chat = read_model_chat(*said, model.location(), pieces, problems);
  } else if (format.defaults().chat == ChatUse::from_checkpoint && !model.path.empty()) {
    Node automatic = node;  // as if `chat: auto` stood there
    automatic.kind = Node::Kind::null;
    model.chat = read_model_chat(automatic, model.location(), pieces, problems);
  }
}

/// The keys of `execution`, in the order of a dump.
template <class Execution, class Keys>
void visit_execution(Execution& execution, Keys& keys) {
  keys.choice("engine", execution.engine, {"torch", "fake"});
  keys.choice("device", execution.device, {"auto", "cpu", "cuda"});
  keys.integer("threads_per_rank", execution.threads_per_rank, 1, 1024);
  keys.integer("tensor_parallel", execution.tensor_parallel, 1, 64);
  keys.integer("batch_tokens", execution.batch_tokens, 1, 16'777'216);
  keys.integer("contexts_per_block", execution.contexts_per_block, 1, 1'000'000);
  keys.integer("max_cells", execution.max_cells, 1, max_cells_limit);
  keys.integer("block_limit_s", execution.block_limit_s, 0, 10'000'000);
}

Node dump_execution(const sweep::Execution& execution, Extent extent) {
  FieldsDump keys;
  visit_execution(execution, keys);
  Node map = keys.take();
  if (execution.tensor_parallel == 1) {  // dumps of older runs stay what they were
    map.take("tensor_parallel");
  }
  if (extent == Extent::raw_numbers) {
    map.take("device");
    map.take("max_cells");
  }
  if (extent == Extent::raw_numbers || execution.block_limit_s == 0) {
    map.take("block_limit_s");
  }
  return map;
}

Node dump_model(const sweep::Job& job, Extent extent) {
  Node model = Node::map();
  if (extent == Extent::everything) {
    model.add("path", Node::text(job.model.path));
    if (!job.model.revision.empty()) {
      model.add("revision", Node::text(job.model.revision));
    }
  }
  model.add("dtype", Node::plain(query::name_of(job.model.dtype)));
  if (format_of(job.probe_name()).defaults().chat != ChatUse::refused) {
    model.add("chat", job.model.chat ? dump_chat(*job.model.chat) : Node::plain("none"));
  }
  return model;
}

/// What the job says, whatever else is wrong with it.
query::Device said_device(const Node& root) {
  const Node* execution = root.find("execution");
  const Node* device = execution == nullptr || execution->kind != Node::Kind::map ? nullptr : execution->find("device");
  return device != nullptr && device->value == "cuda" ? query::Device::cuda : query::Device::automatic;
}

/// Nothing (reported) where the name is unknown.
const ProbeFormat* read_probe(const Node& node, base::Problems& problems) {
  std::vector<std::string> names;
  for (const auto* format : probe_formats()) {
    names.emplace_back(format->name());
  }
  const auto index = read_choice(node, "probe", problems, names);
  return index ? probe_formats()[*index] : nullptr;
}

/// What they hold cannot be judged where the probe is not known.
void pass_over_probe_keys(Fields& fields) {
  for (const auto* format : probe_formats()) {
    for (const auto& key : format->keys()) {
      fields.optional(key);
    }
  }
}

/// Every job needs a model, but one that reads its vectors from a file.
void check_model(Fields& fields, const Node* model, const sweep::Job& job, base::Problems& problems) {
  if (job.needs_model()) {
    fields.required("model");
  } else if (model != nullptr) {
    problems.add(model->place("model"), "a model beside a file of vectors", "nothing would be asked of it",
                 "Leave 'model' out, or 'vectors.file'.");
  }
}

/// Rows are held against the names of the job, so only where those are known.
void check_ratings(const Node& root, const sweep::Job& job, const ProbeFormat& format, base::Problems& problems) {
  const Node* statistics = root.find("statistics");
  const Node* node = statistics == nullptr ? nullptr : statistics->find("human_ratings");
  const auto path = format.human_ratings(job);
  if (node == nullptr || path.empty()) {
    return;
  }
  const auto place = node->place("statistics.human_ratings");
  if (!problems.empty()) {
    base::Problems own;
    read_table(path, own);
    for (const auto& line : own.lines()) {
      problems.add(place, line, "");
    }
    return;
  }
  try {
    format.check_human_ratings(job);
  } catch (const base::InputError& error) {
    problems.add(place, error.what(), "");
  }
}

/// Its rows are held against a score table, which is not known here; that it can be read is.
void check_people(const Node& file, const sweep::Job& job, base::Problems& problems) {
  if (!job.comparison.people || job.comparison.people->ratings.empty()) {
    return;
  }
  base::Problems own;
  read_table(job.comparison.people->ratings, own);
  for (const auto& line : own.lines()) {
    problems.add(file.find("statistics")->find("people")->place("statistics.people.ratings"), line, "");
  }
}

/// `file`: as it stands; `root`: without the statistics that every probe has.
void check_whole(const Node& file, const Node& root, const sweep::Job& job, const ProbeFormat& format,
                 const JobCheck& check, base::Problems& problems) {
  check_ratings(root, job, format, problems);
  check_people(file, job, problems);
  const Node* model = root.find("model");
  const Node* path = model != nullptr && model->kind == Node::Kind::map ? model->find("path") : model;
  if (path == nullptr || job.model.path.empty()) {
    return;
  }
  for (const auto& fault : check(job)) {
    problems.add(path->place(path == model ? "model" : "model.path"), fault, "");
  }
}

}  // namespace

std::span<const std::string> general_keys() {
  static const auto keys = [] {
    std::vector<std::string> names = {"name",       "language",       "seed",        "probe",     "model",
                                      "model.path", "model.revision", "model.dtype", "model.chat"};
    for (const auto& name : dump_execution({.tensor_parallel = 2, .block_limit_s = 1}, Extent::everything).keys) {
      names.push_back("execution." + name);
    }
    return names;
  }();
  return keys;
}

sweep::Job read_job(const Node& file, Pieces& pieces, base::Problems& problems, const JobCheck& check) {
  sweep::Job job;
  if (file.kind == Node::Kind::broken) {
    return job;
  }
  pieces.set_language({});
  Node root = file;
  if (file.find("statistics") != nullptr) {
    job.comparison = take_comparison(root.at("statistics"), pieces, problems);
  }
  Fields fields(root, "", problems);
  std::size_t schema = 0;
  fields.required("schema");
  fields.choice("schema", schema, {"stereosweep/1"});
  if (const Node* name = fields.required("name")) {
    job.name = read_name(*name, problems);
  }
  if (const Node* seed = fields.optional("seed")) {
    job.seed = read_seed(*seed, "seed", problems).value_or(0);
  }
  if (const Node* language = fields.optional("language")) {
    pieces.set_language(LanguageTable::read(*language, pieces, problems));
    job.language = pieces.language().name();
  }
  const Node* model = fields.optional("model");
  if (model != nullptr) {
    job.model = read_model(*model, pieces, problems);
  }
  const ProbeFormat* format = nullptr;
  if (const Node* probe = fields.required("probe")) {
    format = read_probe(*probe, problems);
  }
  if (format != nullptr) {
    const auto defaults = format->defaults();
    const auto& sizes = defaults.sizes_on(said_device(root));
    job.execution.contexts_per_block = sizes.contexts_per_block;
    job.execution.batch_tokens = sizes.batch_tokens;
    if (model != nullptr) {
      read_chat(*model, *format, pieces, problems, job.model);
    }
  }
  if (const Node* execution = fields.optional("execution")) {
    Fields keys(*execution, "execution", problems);
    visit_execution(job.execution, keys);
    keys.finish();
  }
  if (const Node* sweep = fields.optional("sweep")) {  // the loader has taken it out of a job file
    problems.add(sweep->place("sweep"), "a resolved job has no sweep", "it is one job");
  }
  if (format != nullptr) {
    job.probe = format->read({fields, root, pieces, problems, job.execution});
  } else {
    pass_over_probe_keys(fields);
  }
  check_model(fields, model, job, problems);
  fields.finish();
  if (check && format != nullptr) {
    check_whole(file, root, job, *format, check, problems);
  }
  return job;
}

Node dump_job(const sweep::Job& job, Extent extent) {
  Node map = Node::map();
  map.add("schema", Node::plain("stereosweep/1"));
  if (extent == Extent::everything) {
    map.add("name", Node::text(job.name));
  }
  if (extent == Extent::everything && job.language != "en") {
    map.add("language", Node::text(job.language));
  }
  if (extent == Extent::everything || job.draws()) {
    map.add("seed", Node::plain(std::to_string(job.seed)));
  }
  if (job.needs_model()) {
    map.add("model", dump_model(job, extent));
  }
  map.add("probe", Node::plain(job.probe_name()));
  const auto& format = format_of(job.probe_name());
  format.dump(job.probe, extent, map);
  map.add("execution", dump_execution(job.execution, extent));
  if (extent == Extent::everything) {
    dump_comparison(job.comparison, map.add("statistics", format.dump_statistics(job.probe)));
  }
  return map;
}

}  // namespace stereosweep::config
