//! Numbers that nobody can guess, from the operating system.

/// Random bytes.
///
/// # Panics
/// When the kernel has none to give, which Linux does not do after boot; going on with guessable keys would be worse.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if let Err(error) = getrandom::fill(&mut bytes) {
        panic!("the operating system gives no random numbers: {error}");
    }
    bytes
}

/// A random number.
pub(crate) fn number() -> u64 {
    u64::from_be_bytes(bytes())
}

/// A random sequence number.
pub(crate) fn sequence_number() -> prismux_wire::SeqNumber {
    prismux_wire::SeqNumber(u32::from_be_bytes(bytes()))
}
