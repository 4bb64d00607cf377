#include "base/ElmoFiles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "base/Error.hpp"

namespace stereosweep::base {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

FileSet directory(std::initializer_list<const char*> names) {
  FileSet files("model");
  for (const auto* name : names) {
    files.add(name, to_shared(""));
  }
  return files;
}

TEST(ElmoFiles, PublishedNamesAreFound) {
  for (const auto& files :
       {directory({"elmo_2x4096_options.json", "elmo_2x4096_weights.hdf5"}),
        directory({"options.json", "lm_weights.hdf5"}), directory({"options.json", "weights.hdf5"})}) {
    EXPECT_TRUE(is_elmo(files));
    EXPECT_NE(files.find(find_elmo_options(files)), nullptr);
    EXPECT_NE(files.find(find_elmo_weights(files)), nullptr);
  }
}

TEST(ElmoFiles, OtherDirectoriesAreNone) {
  EXPECT_FALSE(is_elmo(directory({"config.json", "some_options.json", "weights.hdf5"})));
  EXPECT_FALSE(is_elmo(directory({"weights.hdf5"})));
  EXPECT_FALSE(is_elmo(directory({"myoptions.json"})));
}

TEST(ElmoFiles, NoneOrSeveralAreRefusedByName) {
  const auto several = directory({"options.json", "a_options.json", "a_weights.hdf5", "weights.hdf5"});
  EXPECT_THAT([&] { find_elmo_options(several); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("a_options.json"), HasSubstr("and options.json"))));
  EXPECT_THAT([&] { find_elmo_weights(several); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("a_weights.hdf5"), HasSubstr("and weights.hdf5"))));
  EXPECT_THAT([] { find_elmo_weights(directory({"options.json"})); },
              ThrowsMessage<InputError>(HasSubstr("model has no weights.hdf5")));
}

}  // namespace
}  // namespace stereosweep::base
