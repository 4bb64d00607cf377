// Words that decide what a number of an answer is, each list with an example. For NumberCandidates.cpp.
#pragma once

#include <string_view>

namespace stereosweep::answers {

// What may be a number.
/// "rating of four", "between two and three": a number in letters behind these is meant as one
inline constexpr std::string_view before_written_number[] = {
    "a",      "of",    "is",    "as",    "to",  "be",   "say",     "them",    "it",     "rating", "score",
    "solid",  "go",    "and",   "maybe", "or",  "from", "give",    "between", "choose", "with",   "at",
    "around", "about", "group", "than",  "not", "nor",  "neither", "perhaps", "strong", "even"};
/// "four out of five", "four because"
inline constexpr std::string_view behind_written_number[] = {"out",    "on",    "because", "since", "but",
                                                             "points", "stars", "as",      "for"};
/// "three to four"
inline constexpr std::string_view joining_written_numbers[] = {"to", "and", "or"};

// The scale, and ranges.
/// "1 being the lowest": what the number means follows
inline constexpr std::string_view before_label[] = {"=",   "being",        "means",      "meaning", "is",
                                                    "for", "representing", "indicating", ":",       ","};
/// "1 (not at all) to 5 (extremely)"
inline constexpr std::string_view between_ends[] = {"to",    "through", "and", "or", "-",      "till",
                                                    "until", "thru",    "~",   "->", "versus", ","};
/// "3 to 4"
inline constexpr std::string_view joining_range[] = {"to",   "through", "-",  "till",   "until",
                                                     "thru", "~",       "->", "towards"};
/// "3 or 4", "3, maybe even a 4"
inline constexpr std::string_view offering_range[] = {"or", "maybe",     "perhaps", "possibly", "even",
                                                      "if", "bordering", "verging", "leaning"};
/// may stand between the two: "3 to about 4"
inline constexpr std::string_view filling_range[] = {"a",      "an", "probably", "around", "about", "not",
                                                     "rather", "up", "on",       "at",     "most"};
/// "3 (or 4)"
inline constexpr std::string_view hedges[] = {"or", "maybe", "perhaps", "possibly"};

// What counts or dates something.
/// "$5", "#3"
inline constexpr std::string_view before_amount[] = {"$", "#", "@"};
/// "page 3", "SD 2"
inline constexpr std::string_view numbered_things[] = {
    "stop", "room",    "floor", "line",  "bus",    "gate",    "part",    "phase", "aged", "age",
    "ages", "grade",   "#",     "table", "figure", "chapter", "section", "page",  "step", "question",
    "item", "version", "group", "sd",    "se",     "n",       "p",       "ci"};
/// "within 5 points", "by 2 points"
inline constexpr std::string_view before_tolerance[] = {"within", "by"};
/// "3 x 4", "(3 + 4) / 2 = 3.5"; of two numbers "-" and "/" may be a range and a share
inline constexpr std::string_view calculation_signs[] = {"+", "x", "*", "=", "^"};
/// "multiply by 2"
inline constexpr std::string_view calculating[] = {"^",       "multiply",    "multiplied", "multiplying", "divide",
                                                   "divided", "dividing",    "subtract",   "subtracted",  "add",
                                                   "added",   "subtracting", "plus"};
/// "the 3 most common jobs"
inline constexpr std::string_view before_count[] = {"the",  "these", "those", "all",  "first",
                                                    "last", "top",   "my",    "their"};
/// ... but "the 3 reflects", "my 4 is": what an answer does
inline constexpr std::string_view behind_the_answer[] = {
    "rating", "is",  "would", "seems", "feels", "reflects", "because", "since", "and", "or",   "but",   "on",
    "out",    "for", "as",    "here",  "that",  "which",    "might",   "could", "may", "mark", "range", "to"};
/// "3 reasons", "12 million"
inline constexpr std::string_view counted_things[] = {
    "percent",  "percentage", "years",     "year",      "people",    "persons",     "million",     "billion",
    "thousand", "hundred",    "groups",    "reasons",   "factors",   "times",       "point",       "dimensions",
    "traits",   "items",      "questions", "keywords",  "words",     "adjectives",  "examples",    "categories",
    "aspects",  "americans",  "men",       "women",     "studies",   "main",        "key",         "different",
    "major",    "important",  "common",    "steps",     "options",   "individuals", "respondents", "participants",
    "months",   "days",       "weeks",     "decades",   "centuries", "countries",   "states",      "ways",
    "things",   "members",    "sentences", "paragraphs"};
/// "4 because", "3 overall": these do not make it a count
inline constexpr std::string_view behind_any_answer[] = {
    "and",        "but",         "or",       "on",         "out",      "because",      "since",     "as",
    "for",        "in",          "at",       "given",      "overall",  "due",          "based",     "with",
    "when",       "considering", "if",       "though",     "although", "so",           "is",        "would",
    "seems",      "feels",       "points",   "stars",      "star",     "to",           "reflects",  "reflecting",
    "indicating", "suggesting",  "meaning",  "signifying", "which",    "that",         "here",      "from",
    "by",         "however",     "while",    "this",       "they",     "very",         "somewhat",  "moderately",
    "quite",      "fairly",      "slightly", "extremely",  "not",      "representing", "showing",   "according",
    "among",      "since",       "then",     "rating",     "will",     "might",        "could",     "may",
    "than",       "being",       "instead",  "there",      "overall",  "most",         "generally", "i",
    "it",         "these",       "their",    "are",        "of",       "range",        "region",    "area",
    "mark",       "zone"};

// What is an answer.
/// "rate 4", "score: 4"
inline constexpr std::string_view right_before_answer[] = {
    "rate", "rated", "rating", "score", "scored", "give", "answer", "choose", "say", "assign", ":", "=", "a", "an"};
/// "rate them 4"
inline constexpr std::string_view between_cue_and_answer[] = {"them", "it", "this", "him", "her", "of", "group", "be"};

// What explains the scale.
/// "2 = slightly", "2 denotes"
inline constexpr std::string_view standing_for[] = {"=", "represents", "denotes", "corresponds", "stands"};
/// "where 1 is", "(5 = extremely)"
inline constexpr std::string_view before_scale_end[] = {"where", "with", "and", "(", ",", "from", "if", "while"};
/// the same
inline constexpr std::string_view behind_scale_end[] = {
    "=",      "is",          "being",   "means",  "represents", "meaning",   "indicates", "indicating",
    "stands", "corresponds", "denotes", "equals", "as",         "signifies", "signifying"};
/// "1 = not at all, 2: slightly"
inline constexpr std::string_view behind_legend_entry[] = {"=",     ":",       "-",  "(",   "->", "being",
                                                           "means", "meaning", "is", "for", "as"};

}  // namespace stereosweep::answers
