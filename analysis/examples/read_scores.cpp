// Each subject's mean score of one measure and item, over templates, rephrasings and replicates, by HDF5's C interface.
//   g++ -std=c++20 analysis/examples/read_scores.cpp -o read_scores $(pkg-config --cflags --libs hdf5)
//   ./read_scores results/planted/association.stats.h5 "ilps_star prior_word" "cold - warm"
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

std::vector<std::string> labels_of(hid_t file, const char* axis) {
  const hid_t data = H5Dopen2(file, axis, H5P_DEFAULT);
  const hid_t space = H5Dget_space(data);
  const hid_t text = H5Dget_type(data);  // variable length, UTF-8
  std::vector<char*> texts(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Dread(data, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data());
  std::vector<std::string> labels(texts.begin(), texts.end());
  H5Dvlen_reclaim(text, space, H5P_DEFAULT, texts.data());
  H5Tclose(text), H5Sclose(space), H5Dclose(data);
  return labels;
}

int main(int count, char** arguments) {
  const hid_t file = count == 4 ? H5Fopen(arguments[1], H5F_ACC_RDONLY, H5P_DEFAULT) : H5I_INVALID_HID;
  if (file < 0) {
    return std::fprintf(stderr, "usage: read_scores FILE.stats.h5 MEASURE ITEM\n"), 2;
  }
  const auto measures = labels_of(file, "measure");
  const auto subjects = labels_of(file, "subject");
  const auto items = labels_of(file, "item");
  const auto measure = static_cast<std::size_t>(std::ranges::find(measures, arguments[2]) - measures.begin());
  const auto item = static_cast<std::size_t>(std::ranges::find(items, arguments[3]) - items.begin());
  const hid_t data = H5Dopen2(file, "score", H5P_DEFAULT);  // measure, subject, template, rephrasing, replicate, item
  const hid_t space = H5Dget_space(data);
  std::vector<double> score(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, score.data());
  H5Sclose(space), H5Dclose(data), H5Fclose(file);
  if (measure == measures.size() || item == items.size()) {
    return std::fprintf(stderr, "read_scores: no such measure or item\n"), 2;
  }
  const std::size_t cells = score.size() / measures.size() / subjects.size() / items.size();
  for (std::size_t subject = 0; subject < subjects.size(); ++subject) {
    double sum = 0;
    double n = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const double value = score[((measure * subjects.size() + subject) * cells + cell) * items.size() + item];
      if (std::isfinite(value)) {  // NaN: score_status says why
        sum += value, ++n;
      }
    }
    std::printf("%s\t%.17g\n", subjects[subject].c_str(), sum / n);
  }
}
