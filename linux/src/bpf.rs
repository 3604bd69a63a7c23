//! Programs and maps of the kernel's BPF machine, by bpf(2): made, registered, found again by name, removed.
//!
//! * [`assembly`]: programs, instruction by instruction. [`type_info`]: what the running kernel's structures look like.
//! * This module: the system call.
//!
//! Nothing is pinned: what is registered or attached lives in the kernel, and is found again by its name.
pub mod assembly;
mod objects;
pub mod type_info;

use objects::{Info, MAP_INFO_NAME, PROGRAM_INFO_NAME, find, info, open};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// Commands, as `enum bpf_cmd` has them.
mod command {
    pub const MAP_CREATE: libc::c_int = 0;
    pub const MAP_LOOKUP: libc::c_int = 1;
    pub const MAP_UPDATE: libc::c_int = 2;
    pub const MAP_DELETE: libc::c_int = 3;
    pub const PROGRAM_LOAD: libc::c_int = 5;
    pub const ATTACH: libc::c_int = 8;
    pub const DETACH: libc::c_int = 9;
    pub const NEXT_PROGRAM: libc::c_int = 11;
    pub const NEXT_MAP: libc::c_int = 12;
    pub const PROGRAM_BY_ID: libc::c_int = 13;
    pub const MAP_BY_ID: libc::c_int = 14;
    pub const INFO: libc::c_int = 15;
    pub const TYPES_LOAD: libc::c_int = 18;
}

/// Longest name of a map or program, without the closing zero.
pub const MAX_NAME_BYTES: usize = 15;
/// Other programs of the same cgroup stay attached (`BPF_F_ALLOW_MULTI`).
const ALLOW_OTHERS: u32 = 2;
/// `BPF_CGROUP_SOCK_OPS`.
const SOCKET_EVENTS: u32 = 3;
/// Bytes of what the verifier says about a program.
const LOG_BYTES: usize = 256 * 1024;
/// More than any version of `union bpf_attr` that these commands use.
const ATTRIBUTE_BYTES: usize = 128;

/// The argument of one command: fields at their offsets in `union bpf_attr`.
struct Attributes([u8; ATTRIBUTE_BYTES]);

impl Attributes {
    const fn new() -> Self {
        Self([0; ATTRIBUTE_BYTES])
    }

    fn put(mut self, at: usize, bytes: &[u8]) -> Self {
        if let Some(field) = self.0.get_mut(at..at + bytes.len()) {
            field.copy_from_slice(bytes);
        }
        self
    }

    fn word(self, at: usize, value: u32) -> Self {
        self.put(at, &value.to_ne_bytes())
    }

    fn descriptor(self, at: usize, of: &impl AsFd) -> Self {
        self.put(at, &of.as_fd().as_raw_fd().to_ne_bytes())
    }

    fn address<T>(self, at: usize, of: *const T) -> Self {
        self.put(at, &(of as usize as u64).to_ne_bytes())
    }

    fn name(self, at: usize, name: &str) -> Self {
        let length = name.len().min(MAX_NAME_BYTES);
        self.put(at, &name.as_bytes()[..length])
    }

    fn word_at(&self, at: usize) -> u32 {
        self.0.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_ne_bytes(*bytes))
    }
}

/// # Safety
/// Every address among the attributes points to as many bytes as the command reads or writes there, alive during the
/// call.
unsafe fn call(command: libc::c_int, attributes: &mut Attributes) -> io::Result<libc::c_int> {
    // SAFETY: the attributes have the announced length; the caller answers for what they point to. Bytes beyond those
    // that a command has are zero, as the kernel demands.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, attributes.0.as_mut_ptr(), ATTRIBUTE_BYTES as libc::c_uint)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as libc::c_int) }
}

/// # Safety
/// As [`call`], with a command that returns a descriptor.
unsafe fn call_for_descriptor(command: libc::c_int, attributes: &mut Attributes) -> io::Result<OwnedFd> {
    // SAFETY: the caller's promise; the descriptor is new and nobody else's.
    unsafe { call(command, attributes).map(|descriptor| OwnedFd::from_raw_fd(descriptor)) }
}

/// A map.
#[derive(Debug)]
pub struct Map {
    descriptor: OwnedFd,
    value_bytes: usize,
}

impl AsFd for Map {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Map {
    /// One value that programs address directly.
    ///
    /// # Errors
    /// The kernel's, see bpf(2).
    pub fn single_value(name: &str, value_bytes: usize) -> io::Result<Self> {
        const ARRAY: u32 = 2;
        Self::create(Self::attributes(ARRAY, name, value_bytes).word(12, 1), value_bytes)
    }

    /// A value of so many words for each socket that a program makes one for; it ends with the socket.
    ///
    /// # Errors
    /// The kernel's, see bpf(2).
    pub fn per_socket(name: &str, words: u32) -> io::Result<Self> {
        const SOCKET_STORAGE: u32 = 24;
        /// `BPF_F_NO_PREALLOC`, which this kind demands.
        const ON_DEMAND: u32 = 1;
        let types = type_info::words(words);
        let loaded = load_types(&types)?;
        let value_bytes = words as usize * 4;
        let attributes = Self::attributes(SOCKET_STORAGE, name, value_bytes)
            .word(16, ON_DEMAND)
            .descriptor(48, &loaded)
            .word(52, types.key)
            .word(56, types.value);
        Self::create(attributes, value_bytes)
    }

    /// An implementation of one of the kernel's tables of functions; `type_id` is that of its `bpf_struct_ops_` type.
    ///
    /// # Errors
    /// The kernel's, see bpf(2).
    pub fn function_table(name: &str, type_id: u32, value_bytes: usize) -> io::Result<Self> {
        const STRUCT_OPS: u32 = 26;
        // The kernel wants some types of ours beside its own, whichever.
        let some = load_types(&type_info::words(1))?;
        let attributes = Self::attributes(STRUCT_OPS, name, value_bytes)
            .word(12, 1)
            .descriptor(48, &some)
            .word(60, type_id);
        Self::create(attributes, value_bytes)
    }

    fn attributes(kind: u32, name: &str, value_bytes: usize) -> Attributes {
        Attributes::new().word(0, kind).word(4, 4).word(8, value_bytes as u32).name(28, name)
    }

    fn create(mut attributes: Attributes, value_bytes: usize) -> io::Result<Self> {
        // SAFETY: this command's attributes hold numbers only.
        let descriptor = unsafe { call_for_descriptor(command::MAP_CREATE, &mut attributes) }?;
        Ok(Self { descriptor, value_bytes })
    }

    /// Its only value.
    ///
    /// # Errors
    /// The kernel's, see bpf(2).
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let (key, mut value) = (0u32, vec![0u8; self.value_bytes]);
        let mut attributes =
            Attributes::new().descriptor(0, self).address(8, &raw const key).address(16, value.as_mut_ptr());
        // SAFETY: key and value have the map's sizes and outlive the call.
        unsafe { call(command::MAP_LOOKUP, &mut attributes) }?;
        Ok(value)
    }

    /// Sets its only value; that of a table of functions is registered with the kernel by this.
    ///
    /// # Errors
    /// The kernel's, see bpf(2); a value of another size is refused.
    pub fn write(&self, value: &[u8]) -> io::Result<()> {
        if value.len() != self.value_bytes {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let key = 0u32;
        let mut attributes =
            Attributes::new().descriptor(0, self).address(8, &raw const key).address(16, value.as_ptr());
        // SAFETY: key and value have the map's sizes and outlive the call.
        unsafe { call(command::MAP_UPDATE, &mut attributes) }.map(|_| ())
    }

    /// Takes its only value away; a table of functions is no longer registered then.
    ///
    /// # Errors
    /// The kernel's, see bpf(2).
    pub fn clear(&self) -> io::Result<()> {
        let key = 0u32;
        let mut attributes = Attributes::new().descriptor(0, self).address(8, &raw const key);
        // SAFETY: the key has the map's size and outlives the call.
        unsafe { call(command::MAP_DELETE, &mut attributes) }.map(|_| ())
    }

    /// The maps of this name.
    ///
    /// # Errors
    /// The kernel's: looking for maps is root's.
    pub fn named(name: &str) -> io::Result<Vec<Self>> {
        let found = find(command::NEXT_MAP, command::MAP_BY_ID, name, MAP_INFO_NAME)?;
        Ok(found
            .into_iter()
            .map(|(descriptor, info)| Self { descriptor, value_bytes: info.word_at(12) as usize })
            .collect())
    }
}

fn load_types(types: &type_info::Made) -> io::Result<OwnedFd> {
    let mut attributes =
        Attributes::new().address(0, types.bytes.as_ptr()).word(16, types.bytes.len() as u32);
    // SAFETY: the kernel reads the announced bytes, which outlive the call.
    unsafe { call_for_descriptor(command::TYPES_LOAD, &mut attributes) }
}

/// What a program is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Events of the TCP connections of a cgroup (`BPF_PROG_TYPE_SOCK_OPS`).
    SocketEvents,
    /// A member of one of the kernel's tables of functions (`BPF_PROG_TYPE_STRUCT_OPS`).
    Member {
        /// The table's type.
        table: u32,
        /// Which of its members.
        index: u32,
    },
}

/// A program that the kernel has verified.
#[derive(Debug)]
pub struct Program(OwnedFd);

impl AsFd for Program {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Why a program was not loaded.
#[derive(Debug)]
pub struct Refused {
    /// The kernel's error.
    pub source: io::Error,
    /// The end of what its verifier says.
    pub log: String,
}

impl Program {
    /// Has the kernel verify and compile a program. Its licence is told to the kernel, some of whose functions are for
    /// programs with one that is compatible with the GPL.
    ///
    /// # Errors
    /// The kernel's error, with the end of its verifier's log.
    pub fn load(name: &str, purpose: Purpose, instructions: &[u64], licence: &CStr) -> Result<Self, Refused> {
        let (kind, index, table) = match purpose {
            Purpose::SocketEvents => (13, SOCKET_EVENTS, 0),
            Purpose::Member { table, index } => (27, index, table),
        };
        let mut log = vec![0u8; LOG_BYTES];
        let attributes = |log: Option<&mut Vec<u8>>| {
            let attributes = Attributes::new()
                .word(0, kind)
                .word(4, instructions.len() as u32)
                .address(8, instructions.as_ptr())
                .address(16, licence.as_ptr())
                .name(48, name)
                .word(68, index)
                .word(108, table);
            match log {
                Some(log) => attributes.word(24, 1).word(28, LOG_BYTES as u32).address(32, log.as_mut_ptr()),
                None => attributes,
            }
        };
        // SAFETY: the kernel reads the instructions and the licence, which are the caller's and outlive the call.
        let first = unsafe { call_for_descriptor(command::PROGRAM_LOAD, &mut attributes(None)) };
        let Err(source) = first else { return first.map(Self).map_err(Refused::bare) };
        // SAFETY: as before; it writes at most the announced bytes of the log.
        let second = unsafe { call_for_descriptor(command::PROGRAM_LOAD, &mut attributes(Some(&mut log))) };
        if let Ok(program) = second {
            return Ok(Self(program));
        }
        let text = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = text.trim_end_matches('\0').trim().lines().collect();
        Err(Refused { source, log: lines[lines.len().saturating_sub(4)..].join("; ") })
    }

    /// Runs it for the sockets of a cgroup, given by its opened folder, beside the programs that others have there.
    ///
    /// # Errors
    /// The kernel's, see bpf(2).
    pub fn attach(&self, cgroup: impl AsFd) -> io::Result<()> {
        // SAFETY: this command's attributes hold numbers only.
        unsafe { call(command::ATTACH, &mut self.attachment(cgroup).word(12, ALLOW_OTHERS)) }.map(|_| ())
    }

    /// The opposite of [`Program::attach`].
    ///
    /// # Errors
    /// The kernel's, see bpf(2).
    pub fn detach(&self, cgroup: impl AsFd) -> io::Result<()> {
        // SAFETY: this command's attributes hold numbers only.
        unsafe { call(command::DETACH, &mut self.attachment(cgroup)) }.map(|_| ())
    }

    fn attachment(&self, cgroup: impl AsFd) -> Attributes {
        Attributes::new().descriptor(0, &cgroup).descriptor(4, self).word(8, SOCKET_EVENTS)
    }

    /// The programs of this name, with the maps that each uses.
    ///
    /// # Errors
    /// The kernel's: looking for programs is root's.
    pub fn named(name: &str) -> io::Result<Vec<Self>> {
        let found = find(command::NEXT_PROGRAM, command::PROGRAM_BY_ID, name, PROGRAM_INFO_NAME)?;
        Ok(found.into_iter().map(|(descriptor, _)| Self(descriptor)).collect())
    }

    /// The maps that it uses, by their names.
    ///
    /// # Errors
    /// The kernel's: opening maps is root's.
    pub fn maps(&self) -> io::Result<Vec<(String, Map)>> {
        let mut ids = [0u32; 16];
        let request = Info::default().with(52, &(ids.len() as u32).to_ne_bytes());
        let request = request.with(56, &(ids.as_mut_ptr() as usize as u64).to_ne_bytes());
        // SAFETY: the kernel writes at most the announced number of words to `ids`, which outlives the call.
        let answer = unsafe { info(&self.0, request) }?;
        let used = ids.iter().take(answer.word_at(52) as usize);
        used.map(|&id| {
            let descriptor = open(command::MAP_BY_ID, id)?;
            // SAFETY: a request without addresses.
            let about = unsafe { info(&descriptor, Info::default()) }?;
            Ok((about.name_at(MAP_INFO_NAME), Map { descriptor, value_bytes: about.word_at(12) as usize }))
        })
        .collect()
    }
}

impl Refused {
    fn bare(source: io::Error) -> Self {
        Self { source, log: String::new() }
    }
}
