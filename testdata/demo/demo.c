/* The library of the package: device code where nvcc puts it, and one function that hands it out.
 * It needs no other library, so it loads anywhere; a program gives the address to cuModuleLoadData. */
__asm__(".section .nv_fatbin,\"a\"\n"
        ".balign 8\n"
        "demo_fatbin: .incbin \"" FATBIN "\"\n"
        ".section .nvFatBinSegment,\"aw\"\n"
        ".balign 8\n"
        "demo_wrapper: .long 0x466243b1, 1\n"
        ".quad demo_fatbin, 0\n"
        ".text\n");

extern const char demo_fatbin[] __attribute__((visibility("hidden")));

const void *smgate_demo_fatbin(void) { return demo_fatbin; }
