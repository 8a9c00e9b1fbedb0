import { Controller, Get, UseGuards } from "@nestjs/common";
import { Test } from "@nestjs/testing";
import type { UserPayload } from "idpauth";
import { signIn, startTestProvider } from "idpauth/testing";
import { CurrentUser } from "./idp-auth/current-user.decorator";
import { IdpAuthModule } from "./idp-auth/idp-auth.module";
import { IdpRequiredGuard } from "./idp-auth/idp-required.guard";

@Controller()
class ReportsController {
  @Get("reports")
  @UseGuards(IdpRequiredGuard)
  reports(@CurrentUser() user: UserPayload | null) {
    return user;
  }
}

it("a user is signed in", async () => {
  const provider = await startTestProvider();
  const module = await Test.createTestingModule({
    imports: [IdpAuthModule.forRoot({ env: provider.env, clock: provider.clock })],
    controllers: [ReportsController],
  }).compile();
  const app = await module.createNestApplication().init();
  const user = await signIn(app.getHttpAdapter().getInstance(), { email: "ada@example.com" });
  expect((await user.get("/reports")).json()).toMatchObject({ email: "ada@example.com" });
  await app.close();
  await provider.stop();
});
