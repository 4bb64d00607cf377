#include "config/statistics/CorrelationReader.hpp"

#include <algorithm>
#include <string>

#include "config/axes/Selections.hpp"
#include "config/yaml/Fields.hpp"

namespace stereosweep::config {
namespace {

using sweep::CorrelationRequest;

constexpr std::int64_t most_extremes = 10'000;

/// One word, or a list of them.
std::vector<CorrelationRequest::Method> read_methods(const Node& node, const std::string& key,
                                                     base::Problems& problems) {
  const auto& names = CorrelationRequest::method_names;
  if (node.kind == Node::Kind::scalar) {
    return {static_cast<CorrelationRequest::Method>(read_choice(node, key, problems, names).value_or(0))};
  }
  std::vector<CorrelationRequest::Method> methods;
  for (const auto place : read_choices(node, key, problems, names, Choices::distinct)) {
    methods.push_back(static_cast<CorrelationRequest::Method>(place));
  }
  return methods;
}

CorrelationRequest read_correlation(const Node& node, const std::string& key, base::Problems& problems) {
  CorrelationRequest request;
  Fields fields(node, key, problems, "{name: ..., rows: {item.dimension: [LABEL, LABEL]}, columns: {item: [LABEL]}}");
  fields.required_line("name", request.name);
  if (const Node* rows = fields.required("rows")) {
    request.rows = read_selections(*rows, fields.key_of("rows"), problems);
  }
  if (const Node* columns = fields.optional("columns")) {
    request.columns = read_selections(*columns, fields.key_of("columns"), problems);
  }
  if (const Node* method = fields.optional("method")) {
    request.methods = read_methods(*method, fields.key_of("method"), problems);
  }
  fields.choice("within", request.within, CorrelationRequest::within_names);
  read_labels(fields, "measures", problems, request.measures);
  fields.finish();
  return request;
}

}  // namespace

std::vector<CorrelationRequest> read_correlations(const Node& list, base::Problems& problems) {
  std::vector<CorrelationRequest> requests;
  each_entry(list, "statistics.correlations", problems, [&](const Node& node, const std::string& key) {
    auto request = read_correlation(node, key, problems);
    if (!request.name.empty() &&
        std::ranges::find(requests, request.name, &CorrelationRequest::name) != requests.end()) {
      problems.add(node.place(key), "a second list of correlations '" + request.name + "'",
                   "rows are told apart by their names");
    }
    requests.push_back(std::move(request));
  });
  return requests;
}

Node dump_correlations(const std::vector<CorrelationRequest>& requests) {
  return list_of(requests, [](const CorrelationRequest& request) {
    FieldsDump fields;
    fields.line("name", request.name);
    fields.add("rows", dump_selections(request.rows));
    if (!request.columns.empty()) {
      fields.add("columns", dump_selections(request.columns));
    }
    fields.add("method", choice_list(request.methods, CorrelationRequest::method_names));
    fields.choice("within", request.within, CorrelationRequest::within_names);
    fields.add("measures", dump_labels(request.measures));
    return fields.take();
  });
}

sweep::ExtremesRequest read_extremes(const Node& node, base::Problems& problems) {
  const std::string key = "statistics.extremes";
  sweep::ExtremesRequest request;
  if (node.kind == Node::Kind::scalar) {
    read_choice(node, key, problems, std::vector<std::string>{"all"});
    return request;
  }
  Fields fields(node, key, problems, "{most: 10, of: {item.dimension: [LABEL, LABEL]}} or all");
  if (const Node* of = fields.optional("of")) {
    request.of = read_selections(*of, fields.key_of("of"), problems);
  }
  fields.integer("most", request.most, 1, most_extremes);
  read_labels(fields, "measures", problems, request.measures);
  fields.finish();
  return request;
}

Node dump_extremes(const sweep::ExtremesRequest& request) {
  FieldsDump fields;
  if (!request.of.empty()) {
    fields.add("of", dump_selections(request.of));
  }
  fields.integer("most", request.most, 1, most_extremes);
  fields.add("measures", dump_labels(request.measures));
  return fields.take();
}

base::Json correlation_schema() {
  const CorrelationRequest request;
  const auto method = choice_schema(CorrelationRequest::method_names);
  FieldsSchema keys;
  keys.required_line("name", request.name);
  keys.needed().selections("rows", request.rows, "items, or item.dimension");
  keys.selections("columns", request.columns, "none: the rows with one another");
  keys.add("method", either_schema({method, list_schema(method)}));
  keys.choice("within", request.within, CorrelationRequest::within_names);
  keys.labels("measures", request.measures);
  return keys.take();
}

base::Json extremes_schema() {
  const sweep::ExtremesRequest request;
  FieldsSchema keys;
  keys.selections("of", request.of);
  keys.integer("most", request.most, 1, most_extremes, "shown at each end");
  keys.labels("measures", request.measures);
  return either_schema({choice_schema({"all"}), keys.take()});
}

}  // namespace stereosweep::config
