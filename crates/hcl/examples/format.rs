//! Formats the standard input.

use std::io::Read;

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    print!("{}", groma_hcl::format(&text));
    Ok(())
}
