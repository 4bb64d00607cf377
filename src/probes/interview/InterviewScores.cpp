#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

#include "answers/Rating.hpp"
#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "probes/interview/Interview.hpp"
#include "stats/OptionProbabilities.hpp"

namespace stereosweep::probes::interview {
namespace {

using results::ScoreStatus;

/// What scores need of an item of the file's axis.
struct Item {
  std::size_t conversation = 0;  ///< that asks it
  bool is_turned = false;
  double scale_sum = 0;
  std::vector<double> option_values;
};

std::vector<Item> items_of(const results::RawSchema& schema) {
  std::vector<Item> items(rating_turns(schema).size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto text = [&](const char* name) { return coordinate_of(schema.inner_axis("item"), name)[i]; };
    const auto conversation = results::place_of(schema.outer_axes.at(1).labels, text("conversation"));
    const auto sum = base::parse_double(text("scale_sum"));
    base::refuse_if(!conversation || !sum,
                    "the item '" + schema.inner_axis("item").labels[i] + "' has no conversation or no scale",
                    "this is no result of an interview");
    items[i] = {*conversation, text("polarity") == "negative", *sum, {}};
    for (const auto& value : base::split(text("option_values"), ' ')) {
      if (const auto number = base::parse_double(value)) {
        items[i].option_values.push_back(*number);
      }
    }
  }
  return items;
}

/// Least and greatest number of a scale, as text; empty: not known.
struct ScaleEnds {
  std::string lowest;
  std::string highest;
};

/// Empty unless the job is known and all its items are rated between the same ends.
ScaleEnds ends_of(const sweep::Job& job) {
  std::optional<std::pair<double, double>> common;
  if (job.probe_name() == Interview::probe_name) {
    for (const auto& conversation : job.settings<Interview>().conversations) {
      const std::pair own(conversation.scale.least(), conversation.scale.greatest());
      if (conversation.rates() && common.value_or(own) != own) {
        return {};
      }
      common = conversation.rates() ? own : common;
    }
  }
  return common ? ScaleEnds{base::format_double(common->first), base::format_double(common->second)} : ScaleEnds();
}

/// By item: the items that must be rated for its rating to count as one of a complete answer. Stereomap drops an answer
/// whole unless every item of its questionnaire has a rating: those of warmth and competence, in whatever turns and
/// conversations they are asked. Turns without any of them are questionnaires of their own.
std::vector<std::vector<std::size_t>> questionnaires_of(const results::RawSchema& schema) {
  const auto turns = rating_turns(schema);
  const auto is_content = [&](std::size_t item) {
    const auto& dimension = coordinate_of(schema.inner_axis("item"), "dimension")[item];
    return dimension == "warmth" || dimension == "competence";
  };
  return base::mapped(turns, [&](const std::string& turn) {
    auto own = base::places_where(turns.size(), [&](std::size_t item) { return turns[item] == turn; });
    return std::ranges::any_of(own, is_content) ? base::places_where(turns.size(), is_content) : own;
  });
}

using answers::Status;

/// In the file, "not_scored" stands behind all others.
void require_names(const results::RawSchema& schema, const std::string& cube, const std::vector<std::string>& names) {
  if (schema.find_cube(cube)) {
    const auto& written = meanings_of(schema, cube);
    const auto known = std::span(written).first(std::min(written.size(), names.size()));
    const auto other = std::ranges::mismatch(known, names).in1;
    const bool is_known = other == known.end() || (*other == "not_scored" && other + 1 == known.end());
    base::refuse_if(!is_known || written.size() > names.size() + 1,
                    "'" + cube + "' has other statuses than this program knows", "another version wrote the file",
                    "stereosweep stats DIR --reparse reads the texts again.");
  }
}

/// What is read again has the same places in the job and in the file.
void require_same_texts(const results::RawSchema& schema, const sweep::Job& job) {
  const auto own = interview_schema(job);
  const auto is_same = [&](const results::AxisSchema& axis) {
    const auto found = std::ranges::find(schema.inner_axes, axis.name, &results::AxisSchema::name);
    return found != schema.inner_axes.end() && found->labels == axis.labels &&
           (axis.name != "item" || coordinate_of(*found, "conversation") == coordinate_of(axis, "conversation"));
  };
  base::refuse_if(
      schema.outer_axes.at(1).labels != own.outer_axes[1].labels || !std::ranges::all_of(own.inner_axes, is_same),
      "the job's conversations are not those of the file", "its texts cannot be read again");
}

/// The block, whose first context is `first`, with its texts read by the rules of this program.
results::RawBlock read_again(results::RawBlock block, std::uint64_t first, const results::RawSchema& schema,
                             const std::vector<Conversation>& conversations) {
  const auto product = product_of(schema);
  const auto num_rounds = schema.inner_axis("round").labels.size();
  auto& rules = column_named<std::int32_t>(block, schema, "rules_version");
  for (std::size_t place = 0; place < rules.size(); ++place) {
    rules[place] = rules[place] < 0 ? rules[place] : std::int32_t{answers::rules_version};
    for (std::size_t round = 0; rules[place] >= 0 && round < num_rounds; ++round) {
      read_texts(block, schema, conversations[product.coordinates(first + place)[1]], place * num_rounds + round);
    }
  }
  return block;
}

class Collector {
 public:
  Collector(const results::RawSchema& schema, const sweep::Job& job, StatsRequest::Parsing parsing)
      : schema_(schema), is_left_out_(left_out(schema, job)) {
    result_.table.axes = score_axes(schema, job);
    result_.table.resize();
    std::ranges::fill(result_.table.statuses, ScoreStatus::not_applicable);
    result_.answer_statuses = meanings_of(schema, "answer_status");
    std::erase(result_.answer_statuses, "not_scored");
    result_.answer_counts.resize(result_.answer_statuses.size() + 1);
    result_.rating_counts.resize(answers::status_names.size() + 1);
    result_.keyword_counts.resize(schema.find_cube("keyword_status") ? answers::status_names.size() + 1 : 0);
    if (parsing == StatsRequest::Parsing::as_stored) {
      require_names(schema, "rating_status", answers::status_names);
      require_names(schema, "keyword_status", answers::status_names);
    }
    require_names(schema, "answer_status", answer_status_names);
  }

  void add(std::uint64_t context, const results::RawBlock& block, std::uint64_t place) {
    const auto at = product_.coordinates(context);
    const auto num_turns = schema_.inner_axis("turn").labels.size();
    const auto& answers = column<std::uint8_t>(block, "answer_status");
    for (auto i = place * num_rounds_ * num_turns; i < (place + 1) * num_rounds_ * num_turns; ++i) {
      ++result_.answer_counts.at(answers[i]);
    }
    if (const auto rules = column<std::int32_t>(block, "rules_version")[place]; rules >= 0) {
      result_.rules.insert(rules);
    }
    for (std::size_t round = 0; round < num_rounds_; ++round) {
      const auto row = place * num_rounds_ + round;
      if (!result_.keyword_counts.empty()) {
        ++result_.keyword_counts.at(column<std::uint8_t>(block, "keyword_status")[row]);
      }
      for (std::size_t item = 0; item < items_.size(); ++item) {
        if (items_[item].conversation == at[1]) {
          score(block, at, round, row, item);
          score_options(block, at, round, row, item);
        }
      }
    }
  }

  InterviewResult take() {
    leave_out_incomplete();
    return std::move(result_);
  }

 private:
  template <class T>
  const std::vector<T>& column(const results::RawBlock& block, const char* name) const {
    return column_named<T>(block, schema_, name);
  }

  /// Also where nobody asked yet: rounds of a run count on it.
  ScoreStatus status_without_score(const std::vector<std::uint64_t>& at, std::size_t item, bool is_scored) const {
    return is_left_out_(0, at[2], item) ? ScoreStatus::not_applicable
           : is_scored                  ? ScoreStatus::missing
                                        : ScoreStatus::unscored;
  }

  void score(const results::RawBlock& block, const std::vector<std::uint64_t>& at, std::size_t round, std::size_t row,
             std::size_t place) {
    const auto& item = items_[place];
    const auto value = column<double>(block, "rating")[row * items_.size() + place];
    const auto code = column<std::uint8_t>(block, "rating_status")[row * items_.size() + place];
    ++result_.rating_counts.at(code);
    const auto status = static_cast<Status>(code);
    const bool is_known = status < Status::no_text;
    const bool is_usable = status == Status::answered;
    const auto absent = status == Status::not_asked ? ScoreStatus::not_applicable
                                                    : status_without_score(at, place, status < Status::not_asked);
    const auto put = [&](Measure measure, bool exists, double number) {
      set(measure, at, round, place, exists ? number : stats::nan, exists ? ScoreStatus::ok : absent);
    };
    const auto rating = item.is_turned ? item.scale_sum - value : value;
    put(Measure::rating, is_usable, rating);
    put(Measure::rating_complete_answers, is_usable, rating);
    put(Measure::usable, is_known, is_usable ? 1 : 0);
    put(Measure::refused, is_known, status == Status::refused ? 1 : 0);
  }

  /// After the last context, since the conversations of a round are not neighbours in the file.
  void leave_out_incomplete() {
    auto& table = result_.table;
    const auto questionnaires = questionnaires_of(schema_);
    const auto num_rows = table.length(1) * table.length(2) * table.length(3) * table.length(4);
    const auto first_row = static_cast<std::size_t>(Measure::rating_complete_answers) * num_rows;
    for (std::size_t row = 0; row < num_rows; ++row) {
      const auto is_missing = [&](std::size_t item) {
        const auto status = table.statuses[row * items_.size() + item];  // of `rating`, which is the first measure
        return status != ScoreStatus::ok && status != ScoreStatus::not_applicable;
      };
      for (std::size_t item = 0; item < items_.size(); ++item) {
        const auto cell = (first_row + row) * items_.size() + item;
        if (table.statuses[cell] == ScoreStatus::ok && std::ranges::any_of(questionnaires[item], is_missing)) {
          table.values[cell] = stats::nan;
          table.statuses[cell] = ScoreStatus::missing;
        }
      }
    }
  }

  /// Nothing where the item's options are not asked.
  void score_options(const results::RawBlock& block, const std::vector<std::uint64_t>& at, std::size_t round,
                     std::size_t row, std::size_t place) {
    const auto& item = items_[place];
    if (item.option_values.empty()) {
      return;
    }
    const auto cell = row * items_.size() + place;
    const auto num_options = schema_.inner_axis("option").labels.size();
    const auto status = column<std::uint8_t>(block, "option_status")[cell];
    const auto logprob = std::span(column<double>(block, "option_logprob"))
                             .subspan(cell * num_options, std::min(num_options, item.option_values.size()));
    const auto shares = stats::option_probabilities(logprob);
    const double mean = std::inner_product(shares.begin(), shares.end(), item.option_values.begin(), 0.0);
    const auto absent = status_without_score(at, place, status < option_status_names.size());
    const auto put = [&](Measure measure, double number) {
      set(measure, at, round, place, shares.empty() ? stats::nan : number, shares.empty() ? absent : ScoreStatus::ok);
    };
    put(Measure::option_rating, item.is_turned ? item.scale_sum - mean : mean);
    put(Measure::option_share, shares.empty() ? stats::nan : std::ranges::max(shares));
  }

  void set(Measure measure, const std::vector<std::uint64_t>& at, std::size_t round, std::size_t item, double value,
           ScoreStatus status) {
    const auto cell = result_.table.index({static_cast<std::size_t>(measure), at[0], at[2], at[3], round, item});
    result_.table.values[cell] = value;
    result_.table.statuses[cell] = status;
  }

  const results::RawSchema& schema_;
  std::vector<Item> items_ = items_of(schema_);
  sweep::Product product_ = product_of(schema_);
  std::size_t num_rounds_ = schema_.inner_axis("round").labels.size();
  findings::LeftOut is_left_out_;
  InterviewResult result_;
};

}  // namespace

std::string rating_turn(const std::string& conversation, const std::string& turn) { return conversation + '\n' + turn; }

std::vector<std::string> rating_turns(const results::RawSchema& schema) {
  std::vector<std::string> both;
  if (schema.find_cube("rating")) {
    const auto& axis = schema.inner_axis("item");
    std::ranges::transform(coordinate_of(axis, "conversation"), coordinate_of(axis, "turn"), std::back_inserter(both),
                           rating_turn);
  }
  return both;
}

findings::LeftOut left_out(const results::RawSchema& schema, const sweep::Job& job) {
  std::set<std::string> steps;
  const bool is_known = job.probe_name() == Interview::probe_name;
  for (const auto& conversation : is_known ? job.settings<Interview>().conversations : std::vector<Conversation>()) {
    for (const auto& turn : conversation.turns) {
      if (turn.when == Turn::When::with_steps) {
        steps.insert(rating_turn(conversation.label, turn.label));
      }
    }
  }
  const auto is_step = base::mapped(rating_turns(schema), [&](const auto& turn) { return steps.contains(turn); });
  return [is_step, asked = coordinate_of(schema.outer_axes.at(2), "steps")](auto /*measure*/, auto form, auto item) {
    return item < is_step.size() && is_step[item] &&
           asked[form] == PromptForm::steps_names[static_cast<std::size_t>(PromptForm::Steps::left_out)];
  };
}

results::ScoreTableAxes score_axes(const results::RawSchema& schema, const sweep::Job& job) {
  const auto [least, greatest] = ends_of(job);
  std::vector<MeasureText> measures = {
      {"rating", "1", "rating of the item, turned round for negative items", least, greatest},
      {"rating_complete_answers", "1",
       "the same, where the answer counts by stereomap's rule: all items of warmth and competence of its round are "
       "rated; of other turns all items of the turn",
       least, greatest},
      {"usable", "1", "1: the answer rates the item, 0: it does not", "0", "1"},
      {"refused", "1", "1: the answer declines to rate the item, 0: it does not", "0", "1"}};
  if (schema.find_cube("option_logprob")) {
    measures.push_back(
        {"option_rating", "1", "expected value of the scale by the probabilities of its answers", least, greatest});
    measures.push_back({"option_share", "1", "greatest probability among the scale's answers", "0", "1"});
  }
  for (auto& measure : measures) {
    measure.answers = measure.name.starts_with("option") ? 0 : 1;
  }
  results::AxisSchema subject = schema.outer_axes.at(0);
  subject.name = "subject";
  results::AxisSchema replicate = schema.inner_axis("round");
  replicate.name = "replicate";
  replicate.long_name = "round";
  for (auto& label : replicate.labels) {
    label = "round " + label;
  }
  return {measure_axis("what a score is", measures),
          std::move(subject),
          schema.outer_axes.at(2),
          schema.outer_axes.at(3),
          std::move(replicate),
          schema.find_cube("rating") ? rated_item_axis(schema.inner_axis("item"), {"facet", "conversation"})
                                     : results::ScoreTable::no_axis(5)};
}

InterviewResult compute_scores(const results::ResultFile& file, const sweep::Job& job, StatsRequest::Parsing parsing,
                               const ContextVisitor& visit) {
  const auto& schema = file.schema();
  Collector collector(schema, job, parsing);
  const bool parses_again = parsing == StatsRequest::Parsing::again;
  if (parses_again) {
    require_same_texts(schema, job);
  }
  results::RawBlock parsed;
  file.for_each_context([&](std::uint64_t context, const auto& stored, std::uint64_t place) {
    if (parses_again && place == 0) {
      parsed = read_again(stored, context, schema, job.settings<Interview>().conversations);
    }
    const auto& block = parses_again ? parsed : stored;
    collector.add(context, block, place);
    if (visit) {
      visit(block, place);
    }
  });
  return collector.take();
}

}  // namespace stereosweep::probes::interview
