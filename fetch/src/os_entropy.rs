//! Randomness from the operating system.
use prismux_sealed::{Entropy, SEED_BYTES};

/// A stream whose seed nobody can guess.
///
/// # Panics
/// When the kernel has no randomness to give, which Linux does not do after boot; going on with guessable keys would
/// be worse.
#[allow(clippy::panic, reason = "keys that can be guessed are worse than an end")]
pub fn os_entropy() -> Entropy {
    let mut seed = [0; SEED_BYTES];
    if let Err(error) = getrandom::fill(&mut seed) {
        panic!("the operating system gives no random numbers: {error}");
    }
    Entropy::from_seed(seed)
}
