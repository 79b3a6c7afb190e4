#pragma once
// What is used of Python's stable interface and of DLPack, declared here: kevo-worker-torch.so is loaded by a
// Python process, which defines these functions, and is built without Python's headers and without PyTorch's,
// so that one build serves every version of both.

#include <cstddef>
#include <cstdint>

extern "C" {
struct PyObject;  // NOLINT(readability-identifier-naming)
PyObject* PyObject_Call(PyObject* callable, PyObject* args, PyObject* kwargs);
PyObject* PyObject_CallFunctionObjArgs(PyObject* callable, ...);
PyObject* PyObject_Type(PyObject* object);
int PyObject_IsTrue(PyObject* object);
PyObject* PyTuple_New(std::ptrdiff_t size);
std::ptrdiff_t PyTuple_Size(PyObject* tuple);
PyObject* PyTuple_GetItem(PyObject* tuple, std::ptrdiff_t index);
int PyTuple_SetItem(PyObject* tuple, std::ptrdiff_t index, PyObject* item);
PyObject* PyLong_FromLongLong(long long value);
PyObject* PyLong_FromUnsignedLongLong(unsigned long long value);
void* PyCapsule_New(void* pointer, const char* name, void (*destructor)(PyObject*));
void* PyCapsule_GetPointer(PyObject* capsule, const char* name);
void PyErr_Clear();
void Py_DecRef(PyObject* object);
void Py_IncRef(PyObject* object);
}

namespace kevo::torch {

/// DLPack's structures (version 1), with its own names of types and members where these are known.
struct dl_tensor {
  void* data;
  struct {
    std::int32_t type;  ///< 1: memory of the processor
    std::int32_t id;
  } device;
  std::int32_t rank;
  struct {
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
  } type;
  std::int64_t* extents;
  std::int64_t* strides;  ///< in elements; null: row by row
  std::uint64_t byte_offset;
};
/// A tensor that is handed over, in the form of version 0.
struct dl_managed {
  dl_tensor tensor;
  void* owner;
  void (*release)(dl_managed*);
};
/// The same in the form of version 1.
struct dl_managed_versioned {
  struct {
    std::uint32_t major;
    std::uint32_t minor;
  } version;
  void* owner;
  void (*release)(dl_managed_versioned*);
  std::uint64_t flags;
  dl_tensor tensor;
};
/// The functions of a library behind `__dlpack_c_exchange_api__` of its tensors.
struct dl_exchange {
  struct {
    std::uint32_t major;
    std::uint32_t minor;
  } version;
  void* older;
  void* allocate;
  int (*hand_out)(void* object, dl_managed_versioned** tensor);
  int (*take)(dl_managed_versioned* tensor, void** object);
  int (*look)(void* object, dl_tensor* tensor);
  void* stream;
};

}  // namespace kevo::torch
