#include "codegen/names.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "codegen/prelude/prelude.h"

namespace napkin {
namespace {

// Words of C, C++ and CUDA.
constexpr const char* kWordsOfC =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t "
    "char8_t class co_await co_return co_yield compl complex concept const const_cast consteval "
    "constexpr constinit continue decltype default delete do double dynamic_cast else enum "
    "explicit "
    "export extern false float for friend goto if inline int long mutable namespace new noexcept "
    "not not_eq nullptr operator or or_eq private protected public register reinterpret_cast "
    "requires restrict return short signed sizeof static static_assert static_cast struct switch "
    "template this thread_local throw true try typedef typeid typename typeof union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq "
    "blockDim blockIdx gridDim threadIdx warpSize";

// Macros that the headers of C define, and what must not be hidden.
constexpr const char* kMacrosOfC =
    "BIG_ENDIAN BUFSIZ BYTE_ORDER CHAR_BIT CHAR_MAX CHAR_MIN CUDART_VERSION CUDA_VERSION EOF "
    "EXIT_FAILURE EXIT_SUCCESS FILENAME_MAX FOPEN_MAX "
    "FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_INT_DOWNWARD FP_INT_TONEAREST "
    "FP_INT_TONEARESTFROMZERO FP_INT_TOWARDZERO FP_INT_UPWARD FP_LLOGB0 FP_LLOGBNAN FP_NAN "
    "FP_NORMAL FP_SUBNORMAL FP_ZERO HUGE_VAL HUGE_VALF HUGE_VALL INFINITY INT16_C INT16_MAX "
    "INT16_MIN INT32_C INT32_MAX INT32_MIN INT64_C INT64_MAX INT64_MIN INT8_C INT8_MAX "
    "INT8_MIN INTMAX_C INTMAX_MAX INTMAX_MIN INTPTR_MAX INTPTR_MIN INT_MAX INT_MIN LINE_MAX "
    "LITTLE_ENDIAN LLONG_MAX LLONG_MIN LONG_MAX LONG_MIN L_ctermid MAX_CANON MAX_INPUT "
    "MB_LEN_MAX NAME_MAX PATH_MAX PIPE_BUF SCHAR_MAX SCHAR_MIN SHRT_MAX SHRT_MIN SSIZE_MAX "
    "UCHAR_MAX UINT_MAX ULLONG_MAX ULONG_MAX USHRT_MAX IOV_MAX NGROUPS_MAX int16_t int32_t "
    "int64_t int8_t intptr_t ptrdiff_t size_t uint16_t uint32_t uint64_t uint8_t uintptr_t "
    "L_tmpnam MATH_ERREXCEPT MATH_ERRNO MAXFLOAT MB_CUR_MAX M_1_PI M_1_PIf M_1_PIl M_2_PI "
    "M_2_PIf M_2_PIl M_2_SQRTPI M_2_SQRTPIf M_2_SQRTPIl M_E M_Ef M_El M_LN10 M_LN10f M_LN10l "
    "M_LN2 M_LN2f M_LN2l M_LOG10E M_LOG10Ef M_LOG10El M_LOG2E M_LOG2Ef M_LOG2El M_PI M_PI_2 "
    "M_PI_2f M_PI_2l M_PI_4 M_PI_4f M_PI_4l M_PIf M_PIl M_SQRT1_2 M_SQRT1_2f M_SQRT1_2l "
    "M_SQRT2 M_SQRT2f M_SQRT2l NAN NFDBITS NULL PDP_ENDIAN PTRDIFF_MAX PTRDIFF_MIN P_tmpdir "
    "RAND_MAX SEEK_CUR SEEK_END SEEK_SET SIG_ATOMIC_MAX SIG_ATOMIC_MIN SIZE_MAX SNAN SNANF "
    "SNANL TMP_MAX UINT16_C UINT16_MAX UINT32_C UINT32_MAX UINT64_C UINT64_MAX UINT8_C "
    "UINT8_MAX UINTMAX_C UINTMAX_MAX UINTPTR_MAX WUNTRACED alloca assert be16toh be32toh "
    "be64toh errno fpclassify htobe16 htobe32 htobe64 htole16 htole32 htole64 isfinite "
    "isgreater isgreaterequal isinf isless islessequal islessgreater isnan isnormal "
    "issubnormal isunordered le16toh le32toh le64toh linux main math_errhandling offsetof "
    "signbit std stderr stdin stdout strdupa strndupa unix va_arg va_copy va_end va_start";

constexpr const char* kWordsOfPython =
    "False None True and as assert async await break class continue def del elif else except "
    "finally for from global if import in is lambda nonlocal not or pass raise return try while "
    "with yield";

// What launchers and operators call what they import, declare and pass.
constexpr const char* kWordsOfExports =
    "ContractError NamedTuple Optional README Tensor arguments contiguous ctypes data device glob "
    "hashlib os pathlib problem re self_test selftest sizes str sys tempfile torch typing";

// Headers that C, its systems and CUDA find by a name alone, and modules that Python brings.
constexpr const char* kHeadersOfC =
    "aio aliases alloca argp argz assert builtin_types byteswap channel_descriptor complex "
    "cooperative_groups crt crypt ctype cuComplex cublas cublasLt cuda cuda_bf16 cuda_bf8 "
    "cuda_fp16 cuda_fp4 cuda_fp6 cuda_fp8 cuda_pipeline cuda_runtime cuda_runtime_api cudnn "
    "curand cusparse device_atomic_functions device_functions device_launch_parameters "
    "device_types dirent dlfcn driver_functions driver_types elf endian envz err errno error "
    "execinfo fcntl features fenv float fnmatch fts ftw getopt glob grp host_config host_defines "
    "iconv inttypes iso646 langinfo libgen library_types limits link locale malloc math "
    "math_constants math_functions memory mma monetary mqueue netdb nl_types nvml nvrtc nvtx omp "
    "paths poll pthread pty pwd regex resolv sched search semaphore setjmp shadow signal "
    "sm_20_intrinsics spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib "
    "stdnoreturn string strings surface_types syscall sysexits syslog tar termios texture_types "
    "tgmath threads time uchar ucontext ulimit unistd utime utmp values vector_functions "
    "vector_types wait wchar wctype wordexp";
constexpr const char* kModulesOfPython =
    "abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit "
    "audioop base64 bdb binascii bisect builtins bz2 calendar cgi cgitb chunk cmath cmd code "
    "codecs codeop collections colorsys compileall compression concurrent configparser contextlib "
    "contextvars copy copyreg cProfile crypt csv ctypes curses dataclasses datetime dbm decimal "
    "difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl "
    "filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext "
    "glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib "
    "inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox "
    "mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing napkin netrc "
    "nis nntplib nt ntpath nturl2path numbers numpy opcode operator optparse os ossaudiodev "
    "pathlib pdb pickle pickletools pip pipes pkgutil platform plistlib poplib posix posixpath "
    "pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random "
    "re readline reprlib resource rlcompleter runpy sched secrets select selectors setuptools "
    "shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 "
    "sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess "
    "sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios test "
    "textwrap this threading time timeit tkinter token tokenize tomllib trace traceback "
    "tracemalloc triton tty turtle turtledemo types typing unicodedata unittest urllib uu uuid "
    "venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp "
    "zipfile zipimport zlib zoneinfo";

// Functions of C that kernels call, and what they always call their own variables and types.
constexpr const char* kWordsOfKernels =
    "cosf erff expf fabsf floorf fmaf fmaxf fminf logf memcpy powf rintf rsqrtf sinf sqrtf tanhf "
    "a acc at b best c column e f found group i j kTested kThreads lane last line memory next nk "
    "other r rank row seed sum value "
    "Maximum Minimum Order Product Rows Sum column_pass outer_product row_pass tested turn";
constexpr const char* kWordsOfSimtKernels = "index left result right";

void add_words(const char* text, std::set<std::string>& words) {
    std::string word;
    for (; *text != '\0'; ++text) {
        if (*text != ' ') {
            word += *text;
            continue;
        }
        words.insert(word);
        word.clear();
    }
    words.insert(word);
}

bool is_of_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Words and single signs, without comments and texts; of the preprocessor's lines only `#define`
/// and what it defines.
std::vector<std::string> tokens_of(const std::string& code) {
    std::vector<std::string> tokens;
    for (std::size_t at = 0; at < code.size();) {
        std::size_t end = at + 1;
        if (code.compare(at, 2, "//") == 0) {
            end = std::min(code.find('\n', at), code.size());
        } else if (code[at] == '#') {
            while (end < code.size() && (code[end] != '\n' || code[end - 1] == '\\')) ++end;
            constexpr std::string_view kDefine = "#define ";
            if (code.compare(at, kDefine.size(), kDefine) == 0) {
                std::size_t last = at + kDefine.size();
                while (is_of_word(code[last])) ++last;
                tokens.insert(tokens.end(), {"using", code.substr(at + kDefine.size(),
                                                                  last - at - kDefine.size())});
            }
        } else if (code[at] == '"') {
            while (end < code.size() && code[end] != '"') end += code[end] == '\\' ? 2U : 1U;
            ++end;
        } else if (is_of_word(code[at])) {
            while (end < code.size() && is_of_word(code[end])) ++end;
            tokens.push_back(code.substr(at, end - at));
        } else if (code[at] != ' ' && code[at] != '\n') {
            tokens.emplace_back(1, code[at]);
        }
        at = end;
    }
    return tokens;
}

/// What a header declares outside of functions and types: after `struct`, `using` and the like,
/// and before `(` and `=`.
void add_declared(const std::string& header, std::set<std::string>& words) {
    const std::vector<std::string> tokens = tokens_of(header);
    std::size_t depth = 0;  // of braces but those of namespaces
    std::vector<bool> counts;
    bool opens_namespace = false;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        const std::string& token = tokens[i];
        if (token == "template")  // its parameters
            for (int open = 0; i + 1 < tokens.size() && (tokens[i] != ">" || --open > 0); ++i)
                if (tokens[i] == "<") ++open;
        if (token == "{") {
            counts.push_back(!opens_namespace);
            if (!opens_namespace) ++depth;
            opens_namespace = false;
        } else if (token == "}" && !counts.empty()) {
            if (counts.back()) --depth;
            counts.pop_back();
        }
        if (depth > 0 || !is_of_word(token.front())) continue;
        opens_namespace = opens_namespace || token == "namespace";
        const std::string before = i == 0 ? "" : tokens[i - 1];
        const std::string& after = tokens[i + 1];
        if (before == "struct" || before == "class" || before == "enum" || before == "using" ||
            before == "namespace" || after == "(" || after == "=")
            words.insert(token);
    }
}

/// What the device primitives declare, on a GPU and in the emulator.
const std::set<std::string>& words_of_prelude() {
    static const std::set<std::string> kWords = [] {
        std::set<std::string> words;
        for (const PreludeFile& file : prelude_files()) add_declared(file.text, words);
        return words;
    }();
    return kWords;
}

}  // namespace

Names Names::of_kernel(const std::string& target) {
    Names names;
    names.taken_ = words_of_prelude();
    for (const char* words : {kWordsOfC, kMacrosOfC, kWordsOfKernels})
        add_words(words, names.taken_);
    if (target == "simt") add_words(kWordsOfSimtKernels, names.taken_);
    // Numbered names of phases and of parts of expressions.
    for (const char* base : {"all", "acc", "value", "next", "other", "last", "t", "r"})
        for (int number = 0; number < 256; ++number)
            names.taken_.insert(base + std::to_string(number));
    return names;
}

Names Names::of_export() {
    Names names;
    for (const char* words : {kWordsOfC, kMacrosOfC, kWordsOfPython, kWordsOfExports})
        add_words(words, names.taken_);
    return names;
}

Names Names::of_export_files() {
    Names names = of_export();
    for (const char* words : {kHeadersOfC, kModulesOfPython}) add_words(words, names.taken_);
    return names;
}

std::string Names::identifier(const std::string& text) {
    std::string name;
    for (const char c : text) {
        // Two underscores in a row belong to the implementation.
        const char added = is_of_word(c) ? c : '_';
        if (added == '_' && !name.empty() && name.back() == '_') continue;
        name += added;
    }
    while (!name.empty() && name.back() == '_') name.pop_back();
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ||
        name.front() == '_')
        name = "v" + name;
    return name;
}

bool Names::are_free(const std::vector<std::string>& names) const {
    for (const std::string& name : names)
        if (taken_.contains(name)) return false;
    return true;
}

std::string Names::fresh(const std::string& wanted) {
    const std::string base = identifier(wanted);
    std::string name = base;
    for (int number = 2; taken_.contains(name); ++number)
        name = base + "_" + std::to_string(number);
    taken_.insert(name);
    return name;
}

}  // namespace napkin
