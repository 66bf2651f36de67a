// A tool that NVTX loads into a program (NVTX_INJECTION64_PATH): prints what the program tells it.

#include <cstdio>

#include <nvtx3/nvToolsExt.h>

namespace {

nvtxDomainHandle_t create_domain(const char* name) {
  std::printf("domain %s\n", name);
  static int domain = 0;
  return reinterpret_cast<nvtxDomainHandle_t>(&domain);
}

int push(nvtxDomainHandle_t, const nvtxEventAttributes_t* range) {
  std::printf("begin %s\n", range->message.ascii);
  return 0;
}

int pop(nvtxDomainHandle_t) {
  std::printf("end\n");
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  unsigned count = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &functions, &count) == 0)
    return 0;
  *functions[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(create_domain);
  *functions[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(push);
  *functions[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}
