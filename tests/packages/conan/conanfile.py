"""The last step of `conan create`: a program is built with the package, and runs."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake


class TestPackage(ConanFile):
    settings = "os", "compiler", "build_type", "arch"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        # Below the tree's build/: the tests of the house look at what lies below tests/.
        self.folders.build = "../../../build/conan"
        self.folders.generators = "../../../build/conan/generators"

    def build(self):
        cmake = CMake(self)
        # One program for all ways of installing: tests/install.
        cmake.configure(build_script_folder="../../install/whole")
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(os.path.join(self.build_folder, "my_trainer"), env="conanrun")
