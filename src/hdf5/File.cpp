#include "hdf5/File.hpp"

#include <hdf5.h>
#include <hdf5_hl.h>

#include <cstdlib>

#include "base/Error.hpp"
#include "base/process/Environment.hpp"
#include "hdf5/Chunks.hpp"

namespace stereosweep::hdf5 {

namespace {

constexpr const char* lock_variable = "HDF5_USE_FILE_LOCKING";

constexpr unsigned tracked = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;

Handle property_list(hid_t kind) { return {H5Pcreate(kind), H5Pclose, "cannot create an HDF5 property list"}; }

Handle access_properties() {
  auto list = property_list(H5P_FILE_ACCESS);
  checked(H5Pset_file_locking(list.id(), 0, 1), "cannot switch off HDF5's file locks");
  return list;
}

void track_order(const Handle& list) {
  checked(H5Pset_link_creation_order(list.id(), tracked), "cannot keep the order of members");
  checked(H5Pset_attr_creation_order(list.id(), tracked), "cannot keep the order of attributes");
  checked(H5Pset_obj_track_times(list.id(), 0), "cannot leave out times");
}

thread_local bool are_files_short_lived = false;

Handle creation_properties(const DataSetSpec& spec) {
  auto list = property_list(H5P_DATASET_CREATE);
  checked(H5Pset_obj_track_times(list.id(), 0), "cannot leave out times");
  checked(H5Pset_attr_creation_order(list.id(), tracked), "cannot keep the order of attributes");
  if (spec.fill) {
    checked(H5Pset_fill_value(list.id(), H5T_NATIVE_DOUBLE, &*spec.fill), "cannot set a fill value");
  }
  if (spec.shape.empty()) {
    return list;
  }
  const auto chunk = canonical_chunk(spec.shape, element_size(spec.type), chunk_bytes);
  const std::vector<hsize_t> lengths(chunk.begin(), chunk.end());
  checked(H5Pset_chunk(list.id(), static_cast<int>(lengths.size()), lengths.data()), "cannot set chunks");
  if (spec.type != ElementType::text && !are_files_short_lived) {  // a filter would see the texts' addresses only
    checked(H5Pset_shuffle(list.id()), "cannot set the shuffle filter");
    checked(H5Pset_deflate(list.id(), deflate_level), "cannot set compression");
  }
  return list;
}

Handle dataset_access() {
  auto list = property_list(H5P_DATASET_ACCESS);
  // 521: a prime well over the number of chunks that fit. 0.75: chunks written to the end leave first, then the oldest;
  // with 1 the others never leave, and those at an array's edge are never written to the end: 60 MB at 3e7 cells.
  checked(H5Pset_chunk_cache(list.id(), 521, chunk_cache_bytes, 0.75), "cannot size the chunk cache");
  return list;
}

void require_hard_link(Id group, const std::string& name) {
  H5L_info_t info{};
  checked(H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT), "cannot find '" + name + "'");
  base::fail_if(info.type != H5L_TYPE_HARD, "cannot read '" + name + "'", "it is a link, which results never hold");
}

}  // namespace

ShortLived::ShortLived() { are_files_short_lived = true; }

ShortLived::~ShortLived() { are_files_short_lived = false; }

const std::string& switch_off_file_locks() {
  static const std::string ignored = [] {
    const auto found = base::text_from_environment(lock_variable);
    ::setenv(lock_variable, "FALSE", 1);
    return found == "FALSE" || found == "0" ? "" : found;
  }();
  return ignored;
}

Group Group::create_group(const std::string& name) {
  const auto list = property_list(H5P_GROUP_CREATE);
  track_order(list);
  return Group(Handle(H5Gcreate2(id(), name.c_str(), H5P_DEFAULT, list.id(), H5P_DEFAULT), H5Gclose,
                      "cannot create the group '" + name + "'"),
               name);
}

Group Group::open_group(const std::string& name) const {
  require_hard_link(id(), name);
  return Group(Handle(H5Gopen2(id(), name.c_str(), H5P_DEFAULT), H5Gclose, "cannot open the group '" + name + "'"),
               name);
}

DataSet Group::create_dataset(const std::string& name, const DataSetSpec& spec) {
  const std::vector<hsize_t> lengths(spec.shape.begin(), spec.shape.end());
  const Handle space(H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), nullptr), H5Sclose,
                     "cannot shape '" + name + "'");
  const auto type = file_type(spec.type);
  const auto creation = creation_properties(spec);
  const auto access = dataset_access();
  return DataSet(Handle(H5Dcreate2(id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, creation.id(), access.id()),
                        H5Dclose, "cannot create '" + name + "'"),
                 name);
}

DataSet Group::open_dataset(const std::string& name) const {
  require_hard_link(id(), name);
  const auto access = dataset_access();
  DataSet dataset(Handle(H5Dopen2(id(), name.c_str(), access.id()), H5Dclose, "cannot open '" + name + "'"), name);
  const Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose, "cannot read the layout of '" + name + "'");
  base::fail_if(H5Pget_layout(creation.id()) == H5D_VIRTUAL || H5Pget_external_count(creation.id()) > 0,
                "cannot read '" + name + "'", "its data lie in other files");
  return dataset;
}

DataSet Group::create_texts(const std::string& name, std::span<const std::string> values) {
  auto dataset = create_dataset(name, {ElementType::text, {values.size()}, {}});
  dataset.write(0, values);
  return dataset;
}

void Group::create_text(const std::string& name, const std::string& value) {
  auto dataset = create_dataset(name, {ElementType::text, {}, {}});
  dataset.write(0, std::span<const std::string>(&value, 1));
}

bool Group::contains(const std::string& name) const {
  return checked(H5Lexists(id(), name.c_str(), H5P_DEFAULT), "cannot look for '" + name + "'") > 0;
}

std::vector<std::string> Group::names() const {
  std::vector<std::string> found;
  const auto collect = [](hid_t /*group*/, const char* name, const H5L_info_t* /*info*/, void* data) {
    static_cast<std::vector<std::string>*>(data)->emplace_back(name);
    return 0;
  };
  checked(H5Literate(id(), H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, collect, &found), "cannot list '" + name() + "'");
  return found;
}

File::File(Handle handle, std::filesystem::path path)
    : handle_(std::move(handle)),
      root_(Handle(H5Gopen2(handle_.id(), "/", H5P_DEFAULT), H5Gclose, "cannot open the root group"), "/"),
      path_(std::move(path)) {}

File File::create(const std::filesystem::path& path) {
  prepare_library();
  const auto creation = property_list(H5P_FILE_CREATE);
  track_order(creation);
  const auto access = access_properties();
  Handle handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose,
                "cannot create '" + path.string() + "'");
  return {std::move(handle), path};
}

File File::open(const std::filesystem::path& path) {
  prepare_library();
  const auto access = access_properties();
  Handle handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose, "cannot open '" + path.string() + "'");
  return {std::move(handle), path};
}

File File::open_image(std::span<const std::byte> bytes, const std::string& name) {
  prepare_library();
  // HDF5 takes a pointer that it could write through; opened for reading and with these flags it does not.
  const auto opened = H5LTopen_file_image(const_cast<std::byte*>(bytes.data()), bytes.size(),
                                          H5LT_FILE_IMAGE_DONT_COPY | H5LT_FILE_IMAGE_DONT_RELEASE);
  if (opened < 0) {  // this function keeps HDF5's own reason to itself
    base::fail("cannot open '" + name + "'", "HDF5 finds no whole file in its " + std::to_string(bytes.size()) +
                                                 " bytes: it is cut off or damaged, or no HDF5 file");
  }
  Handle handle(opened, H5Fclose, "cannot open '" + name + "'");
  return {std::move(handle), name};
}

std::uint64_t File::trailing_bytes() const {
  const auto problem = "cannot ask for the size of '" + path_.string() + "'";
  hsize_t size = 0;
  haddr_t end = 0;
  checked(H5Fget_filesize(handle_.id(), &size), problem);
  checked(H5Fget_eoa(handle_.id(), &end), problem);
  return size > end ? size - end : 0;
}

void File::finish() {
  const auto problem = "cannot write '" + path_.string() + "'";
  checked(H5Fflush(handle_.id(), H5F_SCOPE_GLOBAL), problem);
  root_ = Group(Handle(), "/");
  handle_.close(problem);
}

}  // namespace stereosweep::hdf5
