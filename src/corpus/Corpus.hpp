// What is read: text of the user's own, or a file of vectors. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stereosweep::corpus {

/// Sentences of the user's own in which the words of the tests are looked for.
struct Corpus {
  enum class Format { automatic, text, json_lines };  ///< automatic: by the file's name (.jsonl[.gz|.bz2|.zst])
  /// word: neighbours are no letters, digits or marks (Unicode), ends of the line included.
  /// blanks: the published code's rule, a blank on both sides, so that a line's first and last word are missed.
  enum class Boundary { word, blanks };
  enum class Case { exact, ignore };
  std::vector<std::string>
      files;  ///< files or directories (read recursively), plain, gzip, bzip2 or zstd by their magic bytes
  Format format = Format::automatic;
  std::string field = "text";  ///< of a JSON line
  Boundary boundary = Boundary::word;
  Case letter_case = Case::exact;
  std::int64_t max_contexts = 1000;  ///< per word: a uniform sample without replacement
  bool operator==(const Corpus&) const = default;
};

/// One vector per word, from a file or from the model's own input embeddings.
struct StaticVectors {
  enum class Format { automatic, word2vec_text, word2vec_binary, glove_text, model };
  using Case = Corpus::Case;
  enum class Accents { keep, ignore };
  std::string file;  ///< empty: `model`
  Format format = Format::automatic;
  Case letter_case = Case::exact;  ///< of words in the file
  Accents accents = Accents::keep;
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.choice("format", self.format, {"automatic", "word2vec_text", "word2vec_binary", "glove_text", "model"});
    keys.unless_default().told_by_block().choice("case", self.letter_case, {"exact", "ignore"}, "of words in a file");
    keys.unless_default().told_by_block().choice("accents", self.accents, {"keep", "ignore"}, "of words in a file");
  }
  bool operator==(const StaticVectors&) const = default;
};

}  // namespace stereosweep::corpus
