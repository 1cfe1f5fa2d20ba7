
/* ---- FMI 2.0: its types and the attributes of its functions, as the standard defines them. ---- */

#include <stddef.h>

/* Names as they are in a shared library; where the sources of several units are linked into one program, each has a prefix. */
#ifdef FMI2_FUNCTION_PREFIX
#define MODEL_JOINED(a, b) a##b
#define MODEL_JOIN(a, b) MODEL_JOINED(a, b)
#define MODEL_NAME(name) MODEL_JOIN(FMI2_FUNCTION_PREFIX, name)
#else
#define MODEL_NAME(name) name
#endif

#if defined _WIN32 || defined __CYGWIN__
#define MODEL_SEEN __declspec(dllexport)
#elif defined __GNUC__
#define MODEL_SEEN __attribute__((visibility("default")))
#else
#define MODEL_SEEN
#endif

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;
typedef char fmi2Byte;

enum { fmi2False, fmi2True };
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

typedef struct {
    void (*logger)(fmi2ComponentEnvironment, fmi2String name, fmi2Status, fmi2String category, fmi2String message, ...);
    void *(*allocateMemory)(size_t count, size_t size);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;
