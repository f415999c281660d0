//! The emulator on a port: `cargo run --example serve -- 127.0.0.1:4599 emulator.json`.

use std::path::Path;
use std::sync::Arc;

use groma_cloudcontrol::emulator::http::Server;
use groma_cloudcontrol::emulator::{Settings, Store};
use groma_cloudcontrol::schema::Catalogue;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let address = arguments.first().map_or("127.0.0.1:4599", String::as_str).parse()?;
    let file = arguments.get(1).map_or("groma-emulator.json", String::as_str);
    let store = Store::open(Path::new(file), Catalogue::shipped().clone(), Settings::default())?;
    let server = Server::bind(address, Arc::new(store)).await?;
    println!("http://{}", server.address()?);
    server.run().await?;
    Ok(())
}
