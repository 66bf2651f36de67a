"""The recipe of feedline for Conan 2: `conan create .`; docs/guide/installing.md says more."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class FeedlineRecipe(ConanFile):
    name = "feedline"
    description = "Keeps a GPU fed: minibatches from datasets to the device, hidden behind compute"
    license = "MIT"
    topics = ("training", "dataset", "loader", "cuda", "hdf5")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "with_cuda": [True, False],  # by a toolkit that is on the machine
        "with_hdf5": [True, False],  # deflate by zlib; other filters by HDF5's plugins
        "with_images": [True, False],
        "with_npz": [True, False],
        "with_remote": [True, False],  # http, https and s3
        "with_parquet": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "with_cuda": False,
        "with_hdf5": True,
        "with_images": True,
        "with_npz": True,
        "with_remote": True,
        "with_parquet": False,
    }
    exports_sources = "CMakeLists.txt", "LICENSE", "include/*", "src/*"
    test_package_folder = "tests/packages/conan"

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include/feedline/version.hpp"))
        self.version = ".".join(re.findall(r"#define FEEDLINE_VERSION_[A-Z]+ (\d+)", header))

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("boost/[>=1.74 <2]", headers=True, libs=False, visible=False)
        self.requires("spdlog/[>=1.10 <2]")
        self.requires("zlib/[>=1.2.11 <2]")
        if self.options.with_hdf5:
            self.requires("hdf5/[>=1.10 <2]")
        if self.options.with_images:
            self.requires("libjpeg-turbo/[>=2.1 <4]")
            self.requires("libpng/[>=1.6 <2]")
            self.requires("nlohmann_json/[>=3.9 <4]", visible=False)
        if self.options.with_images or self.options.with_remote:
            self.requires("pugixml/[>=1.11 <2]")
        if self.options.with_npz:
            self.requires("libzip/[>=1.7 <2]")
        if self.options.with_remote:
            self.requires("libcurl/[>=7.86 <9]")
        if self.options.with_parquet:
            self.requires("arrow/[>=15]", options={"parquet": True})

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration("feedline is for Linux on x86-64 and aarch64")

    def package_id(self):
        # It is C++20 whatever the profile says, which by default is what the compiler takes for
        # new; and the package for CMake has those who use it compiled so, too.
        self.info.settings.rm_safe("compiler.cppstd")

    def generate(self):
        CMakeDeps(self).generate()
        # What is not among the requirements is not looked for on the machine.
        without = "libwebp libtiff libdeflate lz4 zstd blosc libaec bzip2 lzo zfp blosc2".split()
        if not self.options.with_images:
            without += ["libjpeg", "libpng", "nlohmann-json"]
        if not self.options.with_images and not self.options.with_remote:
            without += ["libpugixml"]
        if not self.options.with_npz:
            without += ["libzip"]
        if not self.options.with_remote:
            without += ["libcurl"]
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update({
            "FEEDLINE_CUDA": "ON" if self.options.with_cuda else "OFF",
            "FEEDLINE_HDF5": "ON" if self.options.with_hdf5 else "OFF",
            "FEEDLINE_PARQUET": "ON" if self.options.with_parquet else "OFF",
            "FEEDLINE_TESTS": False,
            "FEEDLINE_PROGRAMS": False,
            "FEEDLINE_SAMPLES": False,
            "FEEDLINE_WITHOUT": ";".join(without),
        })
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "share", "doc"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        # feedline's own package for CMake is used: it knows its components.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "feedline")]
        parts = ["formats", "images", "core"]
        parts[2:2] = [part for part in ("hdf5", "remote", "cuda")
                      if self.options.get_safe("with_" + part)]
        self.cpp_info.libs = ["feedline_" + part for part in parts]
        if self.options.shared:
            self.cpp_info.defines = ["FEEDLINE_SHARED"]
        self.cpp_info.system_libs = ["pthread", "dl"]
