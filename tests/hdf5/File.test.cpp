#include "hdf5/File.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::hdf5 {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Throws;
using ::testing::ThrowsMessage;

class FileTest : public ::testing::Test {
 protected:
  stereosweep::testing::TemporaryDirectory directory_;
};

TEST_F(FileTest, KeepsAttributesAndTheOrderOfMembers) {
  auto file = File::create(directory_ / "x.h5");
  file.root().write_attribute("title", "Größe");
  file.root().write_attribute("seed", std::int64_t{-3});
  file.root().create_group("zebra").create_text("text", "ä\n" + std::string(70000, 'y'));
  file.root().create_group("ant");
  file.finish();
  const auto again = File::open(directory_ / "x.h5");
  EXPECT_EQ(again.root().text_attribute("title"), "Größe");
  EXPECT_EQ(again.root().number_attribute("seed"), -3);
  EXPECT_EQ(again.root().text_attribute("absent"), std::nullopt);
  EXPECT_THROW(again.root().text_attribute("seed"), base::Error);
  EXPECT_THAT(again.root().names(), ElementsAre("zebra", "ant"));
  EXPECT_EQ(again.root().open_group("zebra").open_dataset("text").shape(), Shape{});
}

TEST_F(FileTest, EqualContentGivesEqualBytes) {
  for (const auto* name : {"a.h5", "b.h5"}) {
    auto file = File::create(directory_ / name);
    const std::vector<std::string> labels = {"one", "two"};
    file.root().create_texts("label", labels).make_scale();
    file.root().write_attribute("title", "t");
    file.finish();
  }
  EXPECT_EQ(base::read_file(directory_ / "a.h5"), base::read_file(directory_ / "b.h5"));
}

TEST_F(FileTest, ErrorsCarryHdf5sReason) {
  EXPECT_THAT([&] { File::open(directory_ / "absent.h5"); },
              ThrowsMessage<base::Error>(HasSubstr("No such file or directory")));
  std::ofstream(directory_ / "text.h5") << "not an HDF5 file, but long enough to hold a signature";
  EXPECT_THAT([&] { File::open(directory_ / "text.h5"); },
              ThrowsMessage<base::Error>(HasSubstr("file signature not found")));
}

TEST_F(FileTest, IsReadFromMemoryToo) {
  const std::vector<float> values = {1.5F, -2, 0.1F};
  {
    auto file = File::create(directory_ / "x.h5");
    file.root().create_group("deep").create_dataset("x", {ElementType::float32, {3}, {}}).write(0, values);
    file.finish();
  }
  const auto content = base::read_file(directory_ / "x.h5");
  const auto bytes = std::as_bytes(std::span(content));
  const auto file = File::open_image(bytes, "x.h5");
  std::vector<float> read(3);
  file.root().open_group("deep").open_dataset("x").read(0, std::span<float>(read));
  EXPECT_EQ(read, values);
  EXPECT_THAT([&] { File::open_image(bytes.first(bytes.size() / 2), "half.h5"); },
              ThrowsMessage<base::Error>(AllOf(HasSubstr("half.h5"), HasSubstr("cut off"))));
}

TEST_F(FileTest, AFullDiskIsAnErrorAtTheLatestInFinish) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{20000, before.rlim_max};
  EXPECT_THROW(
      {
        auto file = File::create(directory_ / "x.h5");
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
        const std::vector<std::string> texts(1000, std::string(50, 'z'));
        file.root().create_texts("x", texts);
        file.finish();
      },
      base::Error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
}

}  // namespace
}  // namespace stereosweep::hdf5
