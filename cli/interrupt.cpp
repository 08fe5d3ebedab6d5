#include "cli/interrupt.h"

namespace napkin::cli {
namespace {

volatile std::sig_atomic_t& noted_signal() {
    static volatile std::sig_atomic_t noted = 0;
    return noted;
}

}  // namespace

Interrupt::Interrupt() {
    noted_signal() = 0;
    struct sigaction note {};
    note.sa_handler = [](int) { noted_signal() = 1; };
    note.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    ::sigaction(SIGINT, &note, &interrupt_);
    ::sigaction(SIGTERM, &note, &terminate_);
}

Interrupt::~Interrupt() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGTERM, &terminate_, nullptr);
}

bool Interrupt::noted() {
    return noted_signal() != 0;
}

}  // namespace napkin::cli
