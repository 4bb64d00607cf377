"""torch_calls.py NM OUTPUT LIBTORCH LIBRARY...: a source (x86-64) of a program that loads libtorch_cpu.so when needed.

Each function of libtorch_cpu.so that the static libraries call becomes a jump. Its first call asks
stereosweep_find_torch_function (src/model/kernels/Kernels.cpp) for the address; later calls jump there at once.
"""

import subprocess
import sys

STANDARD_LIBRARY = ("_ZNSt", "_ZNKSt")  # torch also offers parts of it, which every program has itself
START = r"""asm(R"calls(
# In: the address of an entry in r11, the arguments of a call in registers and on the stack, which stay as they are.
  .text
load:
  push %rax; push %rdi; push %rsi; push %rdx; push %rcx; push %r8; push %r9; push %r10
  sub $136, %rsp
  movups %xmm0, (%rsp); movups %xmm1, 16(%rsp); movups %xmm2, 32(%rsp); movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp); movups %xmm5, 80(%rsp); movups %xmm6, 96(%rsp); movups %xmm7, 112(%rsp)
  mov %r11, %rdi
  call stereosweep_find_torch_function
  mov %rax, %r11
  movups (%rsp), %xmm0; movups 16(%rsp), %xmm1; movups 32(%rsp), %xmm2; movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4; movups 80(%rsp), %xmm5; movups 96(%rsp), %xmm6; movups 112(%rsp), %xmm7
  add $136, %rsp
  pop %r10; pop %r9; pop %r8; pop %rcx; pop %rdx; pop %rsi; pop %rdi; pop %rax
  jmp *%r11
)calls");
"""
ENTRY = r"""asm(R"calls(
  .text
  .globl {name}
  .hidden {name}
  .type {name}, @function
{name}:
  jmp *entry_{number}(%rip)
first_{number}:
  lea entry_{number}(%rip), %r11
  jmp load
  .data
  .balign 8
entry_{number}:
  .quad first_{number}
  .asciz "{name}"
  .text
)calls");
"""


def symbols(nm, kinds, *arguments):
    lines = subprocess.run([nm, *arguments], check=True, capture_output=True, text=True).stdout.splitlines()
    return {words[-1].split("@")[0] for words in map(str.split, lines) if len(words) > 1 and words[-2] in kinds}


def main(nm, output, torch, *libraries):
    called = symbols(nm, "U", "--undefined-only", *libraries) - symbols(nm, "TW", "--defined-only", *libraries)
    offered = symbols(nm, "TW", "--defined-only", "--dynamic", torch)
    wanted = sorted(name for name in called & offered if not name.startswith(STANDARD_LIBRARY))
    entries = [ENTRY.format(name=name, number=number) for number, name in enumerate(wanted)]
    with open(output, "w", encoding="ascii") as file:
        file.write(START + "".join(entries))


main(*sys.argv[1:])
