//! The rules of the tree, held against its text: who may use whom, sizes, words, documentation.

mod architecture;
mod configuration;
mod documentation;
mod mechanisms;
mod plain_speech;
mod security;
mod size;
