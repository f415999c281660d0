// A provider on the official libraries, old and new, as they are muxed in practice: the peer of our client's tests. It speaks
// protocol 5, or 6 where PEER_PROTOCOL says so.
package main

import (
	"context"
	"log"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/hashicorp/terraform-plugin-mux/tf5muxserver"
	"github.com/hashicorp/terraform-plugin-mux/tf5to6server"
	"github.com/hashicorp/terraform-plugin-mux/tf6muxserver"
)

const address = "registry.terraform.io/example/peer"

func main() {
	serve := serve5
	if os.Getenv("PEER_PROTOCOL") == "6" {
		serve = serve6
	}
	if err := serve(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func legacyServer() tfprotov5.ProviderServer { return legacyProvider().GRPCProvider() }

func serve5(ctx context.Context) error {
	mux, err := tf5muxserver.NewMuxServer(ctx, legacyServer, providerserver.NewProtocol5(&modernProvider{}))
	if err != nil {
		return err
	}
	return tf5server.Serve(address, mux.ProviderServer)
}

func serve6(ctx context.Context) error {
	upgraded, err := tf5to6server.UpgradeServer(ctx, legacyServer)
	if err != nil {
		return err
	}
	mux, err := tf6muxserver.NewMuxServer(ctx,
		func() tfprotov6.ProviderServer { return upgraded },
		providerserver.NewProtocol6(&modernProvider{}),
	)
	if err != nil {
		return err
	}
	return tf6server.Serve(address, mux.ProviderServer)
}
