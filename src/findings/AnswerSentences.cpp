#include <algorithm>
#include <cmath>

#include "base/text/Text.hpp"
#include "findings/Finding.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::findings {
namespace {

std::string unit_of(const results::AxisSchema& measures, const std::string& measure) {
  const auto place = results::place_of(measures.labels, measure);
  return place ? measures.value("units", *place) : "";
}

/// The value to which columns belong that name none.
std::string owner_of(const Finding& finding) {
  const auto found = std::ranges::find(finding.columns, Role::value, &Column::role);
  return found == finding.columns.end() ? "" : found->name;
}

/// The rows of one measure that answer the finding's question, the best evidence first.
class AnsweredRows {
 public:
  /// Borrows `finding`. `unit`: of the measure's scores.
  template <class Takes>
  AnsweredRows(const Finding& finding, const std::string& unit, const Takes& takes)
      : finding_(finding),
        question_(*finding.question),
        value_(*finding.find_column(question_.value)),
        low_(find(Role::low)),
        high_(find(Role::high)),
        n_(find(Role::n)),
        p_(find(Role::p)),
        adjusted_(find(Role::adjusted)),
        unit_(value_.unit.empty() ? unit : value_.unit) {
    double before = stats::nan;
    for (std::size_t row = 0; row < finding.num_rows(); ++row) {
      const double value = takes(row) ? value_.values[row] : stats::nan;
      has_values_ = has_values_ || !std::isnan(value);
      const bool is_told = std::isnan(value) || question_.claims[row].empty() || is_other_share(value, before);
      rows_.insert(rows_.end(), is_told ? 0 : 1, row);
      before = value;
    }
    finding_.sort("-" + question_.value, rows_);
    finding_.sort(p_ == nullptr ? "" : p_->name, rows_);
  }

  std::vector<std::string> sentences(double level) const {
    if (!has_values_) {
      return {"Nothing can be said of any " + question_.nothing + ": there are no scores."};
    }
    constexpr std::size_t most = 3;
    std::vector<std::string> told;
    const auto is_small = [&](auto row) {
      return p_ == nullptr || at(adjusted_ != nullptr ? adjusted_ : p_, row) <= level;
    };
    for (const auto row : rows_) {
      if (told.size() < most && is_small(row)) {
        told.push_back(sentence(row));
      }
    }
    const auto small = std::ranges::count_if(rows_, is_small);
    if (told.empty() && !rows_.empty()) {
      const auto nearest = " The nearest to it" +
                           (rows_.size() > 1 ? " of " + base::counted(rows_.size(), "row") : "") + ": " +
                           sentence(rows_.front());
      told.push_back(why_none(level) + (value_.values[rows_.front()] != 0 ? nearest : ""));  // 0 has no direction
    } else if (p_ != nullptr && rows_.size() > told.size()) {
      told.back() += " Of " + base::counted(rows_.size(), "row") + " " +
                     base::with_thousands(static_cast<std::uint64_t>(small)) + (small == 1 ? " has a p" : " have a p") +
                     (adjusted_ != nullptr ? ", adjusted," : "") + " of at most " + results::percent(level) + ".";
    }
    return told;
  }

 private:
  /// Of two shares of one whole, which differ alike with opposite signs, the second, which says what the first does.
  bool is_other_share(double value, double before) const {
    constexpr double rounding = 1e-9;  // of a difference: what two sums of the same numbers differ by
    return value_.is_difference && value != 0 && std::abs(value + before) <= rounding * std::abs(value);
  }
  const Column* find(Role role) const {
    const bool is_of_all = role == Role::n || owner_of(finding_) == question_.value;
    const auto is_of_it = [&](const Column& column) {
      return column.role == role && (column.of == question_.value || (column.of.empty() && is_of_all));
    };
    const auto found = std::ranges::find_if(finding_.columns, is_of_it);
    return found == finding_.columns.end() ? nullptr : &*found;
  }
  static double at(const Column* column, std::size_t row) {
    return column == nullptr ? stats::nan : column->values[row];
  }

  std::string why_none(double level) const {
    double least = stats::nan;
    for (const auto row : rows_) {
      least = std::fmin(least, at(question_.least.empty() ? nullptr : finding_.find_column(question_.least), row));
    }
    if (std::ranges::all_of(rows_, [&](auto row) { return std::isnan(at(p_, row)); })) {
      return "This design cannot show any " + question_.nothing + ": too few templates, wordings or answers for a p.";
    }
    return least > level ? "This design can hardly show any " + question_.nothing +
                               ": no p of shuffled labels or signs is below " + results::p_value(least) + "."
                         : "No " + question_.nothing + " beyond chance.";
  }

  /// "nurses lean further to warm than students: 0.310 nat, 0.120 .. 0.500, p 0.004 (28 templates)."
  std::string sentence(std::size_t row) const {
    const double value = value_.values[row];
    const double size = std::fmax(std::abs(value), std::fmax(std::abs(at(low_, row)), std::abs(at(high_, row))));
    auto text = base::replace_all(question_.claims[row], "_", " ") + ": " +
                (question_.name.empty() ? "" : question_.name + " ") + results::significant(value, size) +
                (unit_.empty() || unit_ == "1" ? "" : " " + unit_);
    if (low_ != nullptr) {
      text += std::isnan(at(low_, row)) ? ", no interval"
                                        : ", " + results::significant(at(low_, row), size) + " .. " +
                                              results::significant(at(high_, row), size);
    }
    const auto p = results::p_value(at(p_, row));
    const auto adjusted = results::p_value(at(adjusted_, row));
    text += std::isnan(at(p_, row))
                ? ""
                : ", p " + p + (adjusted_ == nullptr || adjusted == p ? "" : ", adjusted " + adjusted);
    return text +
           (n_ == nullptr ? ""
                          : " (" + base::counted(static_cast<std::uint64_t>(at(n_, row)), question_.counted) + ")") +
           ".";
  }

  const Finding& finding_;
  const Question& question_;
  const Column& value_;
  const Column* low_;
  const Column* high_;
  const Column* n_;
  const Column* p_;
  const Column* adjusted_;
  std::string unit_;
  bool has_values_ = false;
  std::vector<std::size_t> rows_;
};

}  // namespace

std::string claim_of(const SideWords& words, const std::string& measure, const results::AxisSchema& items,
                     std::size_t item, bool is_higher) {
  const auto pole = items.value(is_higher ? "right" : "left", item);
  const auto both = words.both.empty() ? "" : " (" + words.both + ")";
  const bool is_compared = !words.right.empty();
  if (!pole.empty()) {
    return words.left + (words.are_groups ? " lean " : ": scores lean ") + (is_compared ? "further to " : "to ") +
           pole + (is_compared ? " than " + words.right : "") + both;
  }
  const auto side = is_compared ? (is_higher ? "higher" : "lower") : (is_higher ? "above zero" : "below zero");
  return results::in_words(measure) + (items.labels.size() > 1 ? " of " + items.labels[item] : "") + " is " + side +
         " for " + words.left + (is_compared ? " than for " + words.right : "") + both;
}

void answer(Finding& finding, const results::AxisSchema& measures, double confidence) {
  const RowLabels labels(finding, "measure");
  std::vector<std::string> of_rows;
  for (std::size_t row = 0; row < finding.num_rows(); ++row) {
    base::add_once(of_rows, labels.exist() ? labels.of(row) : std::string());
  }
  for (const auto& measure : of_rows) {
    const AnsweredRows answered(finding, unit_of(measures, measure),
                                [&](std::size_t row) { return !labels.exist() || labels.of(row) == measure; });
    for (auto& text : answered.sentences(1 - confidence)) {
      finding.answers.push_back({measure, std::move(text)});
    }
  }
}

}  // namespace stereosweep::findings
