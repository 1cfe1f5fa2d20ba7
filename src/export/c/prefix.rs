//! The prefix of all names of a program: the name of the model, unless that has another meaning in the file.
//!
//! The prefix itself is a type. So it must not be a word of C, a function of the headers, or a variable in the texts of
//! the program: a variable would hide the type.

use super::super::names::Names;
use super::{
    AT, DERIVATIVES, EVENTS, FULL, HAPPENS, HEAD, INDICATORS, INTEGRATE, LOOPS, LU, NEWTON,
    POSITIONS, ROUNDS, RUNTIME, SPARSE, SYSTEMS, WHENS,
};
use crate::export::fmu;
use crate::flat::Flat;

/// Names that the included headers declare, in the standard and in common systems.
const LIBRARY: &str = "
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim floor fma fmax fmin
    fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint
    nextafter nexttoward pow pow10 drem finite scalb significand signgam remainder remquo rint round scalbln scalbn sin sincos sinh
    sqrt tan tanh tgamma trunc y0 y1 yn isinf isnan
    clearerr ctermid dprintf fclose fdopen feof ferror fflush fgetc fgetpos fgets fileno flockfile fopen fprintf fputc fputs fread
    freopen fscanf fseek fseeko fsetpos ftell ftello ftrylockfile funlockfile fwrite getc getchar getdelim getline gets getw open
    pclose perror popen printf putc putchar puts putw remove rename renameat rewind scanf setbuf setbuffer setlinebuf setvbuf snprintf
    sprintf sscanf tempnam tmpfile tmpnam ungetc vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf
    a64l abort abs alloca atexit atof atoi atol atoll bsearch calloc clearenv div drand48 ecvt erand48 exit fcvt free gcvt getenv
    getloadavg getsubopt grantpt initstate jrand48 l64a labs lcong48 ldiv llabs lldiv lrand48 malloc mblen mbstowcs mbtowc mkdtemp
    mkstemp mktemp mrand48 nrand48 on_exit posix_memalign ptsname putenv qsort quick_exit rand rand_r random realloc reallocarray
    realpath rpmatch seed48 select setenv setkey setstate srand srand48 srandom strtod strtof strtol strtold strtoll strtoq strtoul
    strtoull strtouq system unlockpt unsetenv valloc wcstombs wctomb
    basename bcmp bcopy bzero explicit_bzero ffs ffsl ffsll index memccpy memchr memcmp memcpy memmem memmove mempcpy memset rindex
    stpcpy stpncpy strcasecmp strcasestr strcat strchr strchrnul strcmp strcoll strcpy strcspn strdup strerror strlen strncasecmp
    strncat strncmp strncpy strndup strnlen strpbrk strrchr strsep strsignal strspn strstr strtok strtok_r strverscmp strxfrm swab
    blkcnt_t blksize_t clock_t clockid_t cookie_io_functions_t daddr_t dev_t div_t double_t float_t fpos_t fsid_t gid_t id_t ino_t
    int8_t int16_t int32_t int64_t key_t ldiv_t lldiv_t locale_t loff_t max_align_t mode_t nlink_t off_t pid_t ptrdiff_t quad_t
    register_t sigset_t size_t ssize_t suseconds_t time_t timer_t u_char u_int u_long u_short uid_t uint ulong ushort va_list wchar_t
";

/// A prefix that resembles the name of the model.
pub fn prefix(names: &mut Names, flat: &Flat) -> String {
    let name = flat.model();
    match means_something(name) {
        true => names.fresh(&format!("{name}_")),
        false => names.fresh(name),
    }
}

fn means_something(name: &str) -> bool {
    let own = [
        RUNTIME,
        EVENTS,
        ROUNDS,
        POSITIONS,
        HAPPENS,
        LU,
        SYSTEMS,
        NEWTON,
        LOOPS,
        AT,
        FULL,
        SPARSE,
        INTEGRATE,
        HEAD,
        WHENS,
        DERIVATIVES,
        INDICATORS,
    ];
    name.starts_with("fmi2")
        || LIBRARY.split_whitespace().any(|word| word == name)
        || (own.iter().chain(fmu::TEXTS)).any(|text| is_word(text, name))
}

/// Whether a C text uses a word, outside of comments and strings.
fn is_word(text: &str, name: &str) -> bool {
    let word = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if bytes[at] == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at += 1;
        } else if word(bytes[at]) {
            let length = bytes[at..].iter().take_while(|&&c| word(c)).count();
            if &bytes[at..at + length] == name.as_bytes() {
                return true;
            }
            at += length;
        } else {
            at += 1;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_text() {
        let text = "/* a tie */ int b = \"c \\\" d\"; e_1(f);";
        for word in ["int", "b", "e_1", "f"] {
            assert!(is_word(text, word), "{word}");
        }
        for word in ["a", "tie", "c", "d", "e", "1"] {
            assert!(!is_word(text, word), "{word}");
        }
    }

    #[test]
    fn names_that_mean_something() {
        for name in [
            "sin", "m", "x", "LESS", "held", "fmi2Real", "index", "size_t",
        ] {
            assert!(means_something(name), "{name}");
        }
        for name in ["RLC", "Pendulum", "Integration", "pump"] {
            assert!(!means_something(name), "{name}");
        }
    }
}
